"""Turns one stored message, of whichever API, into the items of the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from core.agents.openai_messages.content import (
    FILES,
    Picture,
    arguments_of,
    compact,
    from_address,
    is_picture,
    other_words,
    picture_item,
    picture_of,
    plain,
    text_of,
    texts_of,
)
from core.agents.openai_messages.heads import COMPACTIONS, ITEMS, OUTPUTS
from core.agents.openai_messages.summaries import kept_behind
from core.jsonl import is_one_of
from core.view import Item, Role, Source

ROLE_OF: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

REASONING = ("reasoning_content", "reasoning")
"""Members of an assistant message in which servers beside OpenAI's own hand out reasoning and take it back."""

SERVER_RESULTS = frozenset({"mcp_tool_result", "tool_result"})
CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})

Shown = tuple[Item, Picture | None]
"""An item and, of an image, its bytes."""


def items_of(entry: str, value: Any, role: str) -> list[Item]:
    """The items of one entry; `value` as stored, `role` that of the entry."""
    return [item for item, _ in shown(entry, value, role)]


def shown(entry: str, value: Any, role: str) -> Iterator[Shown]:
    """The items of one entry, each with a source that numbers them from 0, images with their bytes."""
    for number, (item, picture) in enumerate(_told(value, role)):
        yield replace(item, source=(Source(entry, number),)), picture


def _told(value: Any, role: str) -> Iterator[Shown]:
    if not isinstance(value, dict) or ("role" not in value and not is_one_of(value.get("type"), ITEMS)):
        # A system prompt or an input that stands beside the list.
        yield from _parts(ROLE_OF.get(role, "user"), value if isinstance(value, (str, list)) else compact(value))
    elif is_one_of(value.get("type"), ITEMS) and not isinstance(value.get("role"), str):
        yield from _responses_item(value)
    else:
        yield from _message(value, ROLE_OF.get(role, "user"))


def _message(value: dict[str, Any], role: Role) -> Iterator[Shown]:
    content = value.get("content")
    if role == "tool":
        call_id = value.get("tool_call_id")
        yield from _result(call_id if isinstance(call_id, str) else "", content, name=plain(value.get("name")))
        return
    calls = list(_calls(value)) if role == "assistant" else []
    if role == "assistant":
        yield from _reasoning_beside(value)
    nothing = content is None or content == "" or content == []
    if not nothing or (not calls and not value.get("refusal")):
        yield from _parts(role, content)
    if role == "assistant" and isinstance(value.get("refusal"), str):
        yield Item("assistant", "text", value["refusal"]), None
    if role == "assistant" and isinstance(value.get("audio"), dict):
        yield Item("assistant", "text", plain(value["audio"].get("id")), wire_type="audio"), None
    yield from calls


def _reasoning_beside(value: dict[str, Any]) -> Iterator[Shown]:
    text = next((value[name] for name in REASONING if isinstance(value.get(name), str) and value[name]), None)
    if text is not None:
        yield Item("assistant", "thinking", text), None
    elif isinstance(value.get("reasoning_details"), list) and value["reasoning_details"]:
        yield Item("assistant", "thinking", opaque=True), None


def _calls(value: dict[str, Any]) -> Iterator[Shown]:
    """The calls of a Chat Completions message."""
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        function, custom = call.get("function"), call.get("custom")
        if isinstance(custom, dict):
            name, arguments = custom.get("name"), custom.get("input")
        else:
            made = function if isinstance(function, dict) else {}
            name, arguments = made.get("name"), arguments_of(made.get("arguments"))
        yield Item("assistant", "tool_call", call_id=plain(call.get("id")), name=plain(name), arguments=arguments), None
    old = value.get("function_call")
    if isinstance(old, dict):
        arguments = arguments_of(old.get("arguments"))
        yield Item("assistant", "tool_call", name=plain(old.get("name")), arguments=arguments), None


def _parts(role: Role, content: Any) -> Iterator[Shown]:
    """The parts of a content; a plain string is one text."""
    if not isinstance(content, list):
        yield _text(role, plain(content)), None
        return
    for part in content:
        yield from _part(role, part)


def _part(role: Role, part: Any) -> Iterator[Shown]:
    text = text_of(part)
    if text is not None:
        yield _text(role, text), None
    elif is_picture(part):
        yield _image(role, part)
    elif not isinstance(part, dict):
        yield Item(role, "text", compact(part)), None
    else:
        yield from _block(role, part, str(part.get("type")))


def _text(role: Role, text: str) -> Item:
    return Item(role, "text", text, mark="summary" if role == "user" and kept_behind(text) is not None else "")


def _block(role: Role, part: dict[str, Any], kind: str) -> Iterator[Shown]:
    """A part that only Anthropic's API knows, or none."""
    if kind == "thinking":
        text, signed = plain(part.get("thinking")), bool(part.get("signature"))
        yield Item("assistant", "thinking", text, opaque=not text, signed=signed), None
    elif kind == "redacted_thinking":
        yield Item("assistant", "thinking", opaque=True, signed=True), None
    elif kind in CALL_BLOCKS:
        arguments = part.get("input")
        arguments = {} if arguments is None else arguments
        name, call_id = plain(part.get("name")), plain(part.get("id"))
        yield Item("assistant", "tool_call", call_id=call_id, name=name, arguments=arguments), None
    elif kind in SERVER_RESULTS:
        call_id, failed = plain(part.get("tool_use_id")), part.get("is_error") is True
        yield from _result(call_id, part.get("content"), failed)
    elif kind.endswith("_tool_result"):
        yield Item("tool", "tool_result", compact(part.get("content")), call_id=plain(part.get("tool_use_id"))), None
    elif kind == "compaction":
        yield Item("assistant", "text", "\n".join(texts_of(part.get("content"))), mark="summary"), None
    elif kind in FILES:
        yield Item(role, "text", other_words(part), wire_type=kind), None
    else:
        yield Item(role, "text", compact(part), wire_type=kind), None


def _result(call_id: str, content: Any, is_error: bool = False, name: str = "") -> Iterator[Shown]:
    """A tool result: its texts in one item, then its images."""
    parts = content if isinstance(content, list) else [content]
    if isinstance(content, list):
        text = "\n".join(_result_texts(parts))
    else:
        text = "" if is_picture(content) else plain(content)
    yield Item("tool", "tool_result", text, call_id=call_id, name=name, is_error=is_error), None
    for part in parts:
        if is_picture(part):
            yield _image("tool", part)


def _result_texts(parts: list[Any]) -> Iterator[str]:
    for part in parts:
        text = text_of(part)
        if text is not None:
            yield text
        elif not is_picture(part):
            yield other_words(part) if isinstance(part, dict) and is_one_of(part.get("type"), FILES) else compact(part)


def _image(role: Role, part: dict[str, Any]) -> Shown:
    picture = picture_of(part)
    return picture_item(role, picture, ()), picture


def _responses_item(value: dict[str, Any]) -> Iterator[Shown]:
    """A Responses item that is no message."""
    kind = cast(str, value["type"])
    if kind == "reasoning":
        text = "\n".join(texts_of(value.get("summary"))) or "\n".join(texts_of(value.get("content")))
        yield Item("assistant", "thinking", text, opaque=not text, signed=bool(value.get("encrypted_content"))), None
    elif kind in COMPACTIONS:
        yield Item("assistant", "thinking", opaque=True, mark="summary"), None
    elif kind == "item_reference":
        yield Item("assistant", "text", plain(value.get("id")), wire_type=kind), None
    elif kind == "mcp_list_tools":
        yield Item("system", "text", compact(value.get("tools")), name=plain(value.get("server_label"))), None
    elif kind == "image_generation_call":
        picture = from_address("data:image/png;base64," + plain(value.get("result")))
        yield picture_item("assistant", picture, ()), picture
    elif kind in OUTPUTS:
        yield from _output(value, kind)
    else:
        yield from _call(value, kind)


_ASKED = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "mcp_approval_request": "arguments",
    "tool_search_call": "arguments",
    "code_interpreter_call": "code",
    "file_search_call": "queries",
    "apply_patch_call": "operation",
}
"""Type of a call → the member that holds what it asks for; of all others it is `action`."""


def _call(value: dict[str, Any], kind: str) -> Iterator[Shown]:
    """A call; of one that the provider's server ran, what it gave back stands in the same item."""
    call_id = plain(value.get("call_id") or value.get("id"))
    name = plain(value.get("name")) or kind.removesuffix("_call")
    member = _ASKED.get(kind, "action")
    asked = value.get(member)
    if kind != "custom_tool_call":
        asked = {member: asked} if kind in ("code_interpreter_call", "file_search_call") else arguments_of(asked)
    given = list(_given_back(value, kind, call_id))
    at_server = not given and kind in ("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call")
    call = Item("assistant", "tool_call", call_id=call_id, name=name, arguments=_without_nulls(asked, kind))
    yield replace(call, at_server=at_server), None
    yield from given


def _without_nulls(value: Any, kind: str) -> Any:
    """An action without the members that say nothing."""
    if kind in ("web_search_call", "local_shell_call") and isinstance(value, dict):
        return {name: one for name, one in value.items() if one is not None}
    return value


def _given_back(value: dict[str, Any], kind: str, call_id: str) -> Iterator[Shown]:
    if kind == "mcp_call" and (value.get("output") is not None or value.get("error") is not None):
        failed = value.get("error") is not None
        yield from _result(call_id, plain(value["error"] if failed else value["output"]), failed)
    elif kind == "file_search_call" and isinstance(value.get("results"), list):
        found = [one for one in value["results"] if isinstance(one, dict)]
        texts = [f"{plain(one.get('filename'))}\n{plain(one.get('text'))}".strip() for one in found]
        yield from _result(call_id, "\n".join(texts))
    elif kind == "code_interpreter_call" and isinstance(value.get("outputs"), list):
        found = [one for one in value["outputs"] if isinstance(one, dict)]
        logs = "\n".join(plain(one.get("logs")) for one in found if one.get("type") == "logs")
        yield Item("tool", "tool_result", logs, call_id=call_id), None
        for one in found:
            if one.get("type") == "image" and isinstance(one.get("url"), str):
                picture = from_address(one["url"])
                yield picture_item("tool", picture, ()), picture


def _output(value: dict[str, Any], kind: str) -> Iterator[Shown]:
    """The item that answers a call."""
    if kind == "mcp_approval_response":
        verdict = "approved" if value.get("approve") is True else "refused"
        text = ": ".join(filter(None, (verdict, plain(value.get("reason")))))
        yield from _result(plain(value.get("approval_request_id")), text)
        return
    output = value.get("tools") if kind == "tool_search_output" else value.get("output")
    if kind == "tool_search_output":
        output = compact(output)
    yield from _result(plain(value.get("call_id") or value.get("id")), output)
