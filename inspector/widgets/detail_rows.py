"""What the detail pane says about the selected row, as blocks of styled text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.session import Session
from core.view import Item, Sight
from inspector.widgets import figures
from inspector.widgets.timeline_rows import ICONS, SIGHT_WORDS, Line, Timeline, Tokens, items_words, kind_of

ORIGIN_WORDS = {
    "stored": "",
    "repair": "repair: the client makes this up when it sends; it is not in the file",
    "fresh": "fresh: the client makes this anew at each start; it is not in the file",
}

SIGHT_SENTENCES = {
    "summarized": "The model no longer sees this: a summary stands for it",
    "pruned": "The model no longer sees this: it was replaced in the view",
    "dropped": "The model no longer sees this: it was taken out of the view",
    "other_branch": "The model does not see this: it lies on another branch",
    "never": "The model was never sent this",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Text in one style; may be long and of many lines."""

    style: str
    text: str


def line_blocks(session: Session, line: Line, tokens: int, counted: bool) -> list[Block]:
    """Heading, facts and full text of one item."""
    item = line.item
    kind = kind_of(item)
    title_style = "error" if item.is_error else "title"
    blocks = [Block(title_style, " ".join(word for word in (ICONS.get(kind, "·"), kind, item.name) if word))]
    facts = [f"{figures.tokens(tokens, counted)} tokens {'counted' if counted else 'estimated'}"]
    if item.kind != "image":
        facts.append(_length(item))
    if item.signed:
        facts.append("signed: may not be altered")
    blocks.append(Block("fact", " · ".join(facts)))
    place = _place(session, item)
    if place:
        blocks.append(Block("fact", place))
    if ORIGIN_WORDS[item.origin]:
        blocks.append(Block("notice", ORIGIN_WORDS[item.origin]))
    if line.sight in SIGHT_SENTENCES:
        left = f", since entry {line.left_at}" if line.left_at else ""
        blocks.append(Block("notice", SIGHT_SENTENCES[line.sight] + left))
    return [*blocks, Block("body", ""), *body(item)]


def _length(item: Item) -> str:
    if item.kind == "tool_call":
        text = item.arguments if isinstance(item.arguments, str) else json.dumps(item.arguments, ensure_ascii=False)
        return f"{len(text):,} characters of arguments"
    lines = item.text.count("\n") + 1
    return f"{len(item.text):,} characters" + (f" in {lines:,} lines" if lines > 1 else "")


def _place(session: Session, item: Item) -> str:
    if not item.source:
        return ""
    source = item.source[0]
    entry = session.entry(source.entry)
    words = f"entry {source.entry}, part {source.part}"
    if len(item.source) > 1:
        words += f" and {len(item.source) - 1} more"
    if entry is None:
        return words
    return f"{words} · line {entry.line:,} of the file · {figures.size(entry.length)} stored"


def body(item: Item) -> Iterator[Block]:
    """The content of an item in full."""
    if item.kind == "image":
        yield Block("body", f"{item.media_type or 'image'} · {figures.size(item.image_bytes)}")
        yield Block("fact", f"sha256 {item.sha256}")
    elif item.opaque:
        yield Block("fact", "Reasoning that only the provider can read: there is nothing to show.")
    elif item.kind == "tool_call":
        yield from arguments(item.arguments)
    else:
        style = "thinking" if item.kind == "thinking" else "body"
        yield Block(style, item.text)


def arguments(value: Any) -> Iterator[Block]:
    """A call's arguments: one block a key; texts of several lines as they are, all else as indented JSON."""
    if not isinstance(value, dict):
        yield Block("body", value if isinstance(value, str) else pretty(value))
        return
    if not value:
        yield Block("fact", "no arguments")
    for key, part in value.items():
        if isinstance(part, str) and "\n" in part:
            yield Block("key", f"{key}:")
            yield Block("body", part)
        elif isinstance(part, str):
            yield Block("key", f"{key}: {part}")
        else:
            yield Block("key", f"{key}: {pretty(part)}")


def pretty(value: Any) -> str:
    """A value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def group_blocks(timeline: Timeline, group: int, tokens: Tokens, window: int | None) -> list[Block]:
    """What a whole turn comes to, by kind."""
    this = timeline.groups[group]
    lines = timeline.counted_lines(group)
    total = tokens.of_group(this)
    counted = tokens.is_counted(lines)
    title = f"turn {this.number}" if this.kind == "turn" else this.title
    blocks = [Block("title", title)]
    share = figures.share(total, window) if this.kind in ("turn", "lead") else ""
    facts = [items_words(len(lines), 0), f"{figures.tokens(total, counted)} tokens"]
    if share:
        facts.append(f"{share} of the window")
    blocks.append(Block("fact", " · ".join(facts)))
    by_kind: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for index in lines:
        kind = kind_of(timeline.lines[index].item)
        by_kind[kind] += tokens.values[index]
        number[kind] += 1
    blocks.append(Block("body", ""))
    widest = max((value for _, value in by_kind.most_common(1)), default=1) or 1
    for kind, value in by_kind.most_common():
        bar = figures.bar(value / widest, 16)
        blocks.append(Block("bar", f"{kind:<12}{number[kind]:>5} × {figures.tokens(value, counted):>10}  {bar}"))
    if len(lines) < this.stop - this.start:
        around = timeline.lines[this.start : this.stop]
        unseen: Counter[Sight] = Counter(line.sight for line in around if line.position is None)
        words = ", ".join(f"{count:,} {SIGHT_WORDS[sight]}" for sight, count in unseen.most_common())
        blocks.append(Block("fact", f"not counted, as the model no longer sees them: {words}"))
    if this.kind == "turn" and this.title:
        blocks += [Block("body", ""), Block("body", this.title)]
    return blocks


def raw_blocks(session: Session, line: Line) -> list[Block]:
    """The stored record of an item, as it stands in the file."""
    for source in line.item.source:
        entry = session.entry(source.entry)
        if entry is not None:
            text = session.raw(entry).decode("utf-8", "replace")
            where = f"line {entry.line:,}, {figures.size(entry.length)} from byte {entry.offset:,}"
            return [
                Block("title", f"stored record {entry.id}"),
                Block("fact", where),
                Block("body", ""),
                Block("body", text),
            ]
    return [Block("title", "no stored record"), Block("fact", "This item is not in the file: the client makes it.")]
