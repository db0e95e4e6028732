"""The one line that stands where an old result stood: what it was, how large, and how to get it again."""

from __future__ import annotations

from core.calls import Call
from core.view import Item

_PHRASES = {
    "en": {
        "read": "[Omitted: the contents of {path}{span}, {size}. {why}Read the file again if you need it.]",
        "search": "[Omitted: hits of the search {command!r}{where}, {size}. {why}Search again if you need them.]",
        "list": "[Omitted: the listing of {path}, {size}. {why}List it again if you need it.]",
        "shell": "[Omitted: output of `{command}`{outcome}, {size}{ending}. {why}Run it again if you need it.]",
        "other": "[Omitted: result of {tool}{what}, {size}. {why}Call it again if you need it.]",
        "size": "{lines} lines, {characters} characters",
        "span": " (lines {first}–{last})",
        "span_open": " (from line {first})",
        "where": " in {path}",
        "failed": " (failed)",
        "image": " and {count} image(s)",
        "ending": ", ending in {line!r}",
    },
    "zh": {
        "read": "[已省略：文件 {path}{span} 的内容，{size}。{why}需要时可重新读取。]",
        "search": "[已省略：搜索 {command!r}{where} 的结果，{size}。{why}需要时可重新搜索。]",
        "list": "[已省略：{path} 的目录列表，{size}。{why}需要时可重新列出。]",
        "shell": "[已省略：命令 `{command}` 的输出{outcome}，{size}{ending}。{why}需要时可重新运行。]",
        "other": "[已省略：工具 {tool}{what} 的结果，{size}。{why}需要时可重新调用。]",
        "size": "{lines} 行，{characters} 个字符",
        "span": "（第 {first}–{last} 行）",
        "span_open": "（从第 {first} 行起）",
        "where": "（位于 {path}）",
        "failed": "（失败）",
        "image": "和 {count} 张图片",
        "ending": "，末行为 {line!r}",
    },
}

_WHY = {
    "en": {
        "read again": "It was read again later. ",
        "edited": "The file was changed later. ",
        "run again": "It was run again later. ",
        "repeated": "The same result stands later. ",
        "hits read": "The hits were read afterwards. ",
        "old": "",
    },
    "zh": {
        "read again": "之后又重新读取过。",
        "edited": "该文件之后被修改过。",
        "run again": "之后又重新运行过。",
        "repeated": "相同的结果在后文出现。",
        "hits read": "命中的文件之后已读取。",
        "old": "",
    },
}

LONGEST_COMMAND = 200
"""Characters of a command or pattern that a pointer quotes."""


def is_pointer(text: str) -> bool:
    """Whether the text of a result is a pointer of ours already."""
    return len(text) < 2_000 and text.startswith(("[Omitted: ", "[已省略：")) and text.rstrip().endswith("]")


def pointer(call: Call, result: Item, images: int, why: str, language: str) -> str:
    """The pointer for one result; `why` is a key of the reasons, `language` is `en` or `zh`."""
    phrases = _PHRASES.get(language, _PHRASES["en"])
    kind = call.tool.kind if call.tool.kind in ("read", "search", "list", "shell") else "other"
    if (kind in ("read", "list") and not call.path) or (kind in ("search", "shell") and not call.command):
        kind = "other"
    size = phrases["size"].format(lines=f"{_lines(result.text):,}", characters=f"{len(result.text):,}")
    if images:
        size += phrases["image"].format(count=images)
    return phrases[kind].format(
        path=_short(call.path),
        span=_span(call, phrases),
        command=_short(call.command),
        where=phrases["where"].format(path=_short(call.path)) if call.path else "",
        outcome=phrases["failed"] if result.is_error else "",
        ending=_ending(result.text, phrases),
        tool=call.tool.name,
        what=f" ({_short(call.path or call.command)})" if call.path or call.command else "",
        size=size,
        why=_WHY.get(language, _WHY["en"])[why],
    )


def _span(call: Call, phrases: dict[str, str]) -> str:
    if call.span is None:
        return ""
    first, count = call.span
    if count >= 1 << 40:
        return phrases["span_open"].format(first=first)
    return phrases["span"].format(first=first, last=first + count - 1)


def _ending(text: str, phrases: dict[str, str]) -> str:
    """The last line with something in it: of a test or build log it tells the outcome."""
    lines = text.rstrip()[-LONGEST_COMMAND:].rsplit("\n", 1)
    line = lines[-1].strip(" =-#*\t\r")
    return phrases["ending"].format(line=_short(line)) if len(lines) > 1 and line else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_COMMAND else line[: LONGEST_COMMAND - 1] + "…"


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0
