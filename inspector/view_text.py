"""A view in lines for a terminal. Pure: values in, lines out; a text of the session never takes more than its line."""

from __future__ import annotations

from collections.abc import Iterator

from core.opening import Opened
from core.tokens.counting import compact_json
from core.view import Item
from inspector.text import one_line

KINDS = {"tool_call": "call", "tool_result": "result"}
MARKS = {"branch_summary": "branch summary", "bundled_image": ""}


def view_lines(opened: Opened, tokens: bool) -> Iterator[str]:
    """What the session is, how it would be resumed, then one line an item; counts only where asked for."""
    yield from heading(opened)
    items = opened.view.items
    if tokens:
        yield f"  view     {len(items):,} items, {opened.view_tokens:,} tokens counted, without system prompt and tools"
    else:
        yield f"  view     {len(items):,} items"
    for warning in opened.view.warnings:
        yield f"  warning  {one_line(warning, 400)}"
    yield ""
    for position, item in enumerate(items):
        count = f"{opened.item_tokens[position]:>9,}  " if tokens else ""
        yield f"{position + 1:>6}  {item.role:<9}  {count}{said(item)}"


def heading(opened: Opened) -> Iterator[str]:
    """The lines that name a session and the circumstances of its resume, each with its source."""
    session, resume = opened.session, opened.resume
    title = f": {one_line(session.title, 100)}" if session.title else ""
    yield f"{opened.agent.profile.title} session {one_line(session.identity)}{title}"
    yield f"  file     {one_line(str(session.path), 400)}"
    model = "/".join(known.value for known in (resume.provider, resume.model) if known is not None)
    source = f" ({one_line(resume.model.source)})" if resume.model else ""
    yield f"  model    {one_line(model) or 'unknown'}{source}"
    if resume.window:
        yield f"  window   {resume.window.value:,} tokens ({one_line(resume.window.source)})"
    else:
        yield "  window   unknown: give --window"
    yield f"  client   {one_line(resume.client_version.value)} ({one_line(resume.client_version.source)})"
    if session.damage:
        yield f"  damage   {len(session.damage):,} places: `seamline check` lists them"


def said(item: Item) -> str:
    """What an item is and how it begins, in one line."""
    kind = MARKS.get(item.mark, item.mark) or KINDS.get(item.kind, item.kind)
    made = {"repair": " (made up by the client)", "fresh": " (made afresh)"}.get(item.origin, "")
    if item.is_error:
        kind += " error"
    if item.kind == "tool_call":
        return f"{kind}{made} {one_line(item.name)} {one_line(compact_json(item.arguments))}"
    if item.kind == "image":
        return f"{kind}{made} {one_line(item.media_type)}, {item.image_bytes:,} bytes"
    if item.opaque:
        return f"{kind}{made} (opaque)"
    name = f" {one_line(item.name)}" if item.name else ""
    return f"{kind}{made}{name}: {one_line(item.text)}"
