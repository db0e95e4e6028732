"""The handoff document as sections of rows, written as Markdown that reads back exactly.

A quote of one line stands as `- label: “words” (marks) [entry]`, a path or command between backticks instead of “ ”.
Text of several lines stands between fences that are longer than any run of backticks in it, so no line of a quote
can be taken for a heading or a row of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from core.summary.template import LANGUAGES, Language, Template, template

Style = Literal["quote", "code", "plain"]
Marks = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a section. `plain` is free text that a person or a model wrote."""

    text: str
    entry: str = ""
    style: Style = "quote"
    label: str = ""
    marks: Marks = ()
    """Each a key of the template's marks and its value, empty where the mark has none."""
    children: tuple[Row, ...] = ()

    def marked(self, mark: str) -> str | None:
        """The mark's value, or None where the row does not bear it."""
        return next((value for key, value in self.marks if key == mark), None)


@dataclass(frozen=True, slots=True)
class Section:
    """The rows under one heading; `name` is the template's key, or empty under a heading that is none of ours."""

    name: str
    rows: tuple[Row, ...] = ()
    more: int = 0
    """How many rows were left out for want of room."""


_TAG = re.compile(r"<(\s*/?\s*summary\b[^<>\n]*)>", re.IGNORECASE)
_PLAIN_ID = re.compile(r"[\w.:+|-]+")
_SPECIAL = re.compile(r"[^\w.:+|-]", re.ASCII)
_RUN = re.compile(r"`+")
_FENCE = re.compile(r"(`{3,})(code)?$")
_BULLET = re.compile(r"( {0,2})-(?: (.*))?$", re.DOTALL)
_SUFFIX = r"(?:(?:^| )\(([^()]*)\))?(?:(?:^| )\[([^\[\]]+)\])?$"
_QUOTED = re.compile(r"“(.*)”" + _SUFFIX, re.DOTALL)
_CODED = re.compile(r"(`+)(?!`)(.*)(?<!`)\1(?!`)" + _SUFFIX, re.DOTALL)
_BARE = re.compile(r"(?=.)" + _SUFFIX, re.DOTALL)
_CLOSING_TAG = "</summary>"


def neutral(text: str) -> str:
    """The text with `<summary>` tags made harmless, visibly: `‹summary›`; half surrogates become `?`."""
    return _TAG.sub(r"‹\1›", text).encode("utf-8", "replace").decode("utf-8")


def written_id(entry: str) -> str:
    """An entry's id as it stands between brackets; an unusual one as a JSON string without special characters."""
    if _PLAIN_ID.fullmatch(entry):
        return entry
    inner = json.dumps(entry)[1:-1].replace("\\\\", "\\u005c").replace('\\"', "\\u0022")
    return '"' + _SPECIAL.sub(lambda m: m[0] if m[0] == "\\" else f"\\u{ord(m[0]):04x}", inner) + '"'


def read_id(text: str) -> str:
    """The reverse of `written_id`."""
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


# ---- writing


def write_document(template: Template, sections: Sequence[Section], focus: str = "") -> str:
    """The whole document; sections in the given order, each with its heading even where it is empty."""
    intro = template.intro
    if focus.strip():
        intro += "\n" + template.focus.format(" ".join(neutral(focus).split()))
    parts = [f"# {template.title}\n\n{intro}\n"]
    parts += [write_section(template, section) for section in sections]
    return "\n".join(parts)


def write_section(template: Template, section: Section) -> str:
    """One section with its heading, ending in a line feed."""
    lines = [f"## {template.headings[section.name]}"]
    lines += [write_row(template, row) for row in section.rows]
    if section.more:
        lines.append(template.more.format(section.more))
    elif not section.rows:
        lines.append(template.none)
    return "\n".join(lines) + "\n"


def write_row(template: Template, row: Row, indent: str = "") -> str:
    """One row with its children, without the last line feed."""
    head = f"{indent}- {template.labels[row.label]}: " if row.label else f"{indent}- "
    marks = "; ".join(template.marks[key].format(value) for key, value in row.marks)
    suffix = (f" ({marks})" if marks else "") + (f" [{written_id(row.entry)}]" if row.entry else "")
    text = neutral(row.text)
    if "\n" in text:
        fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=0))
        info = "code" if row.style == "code" else ""
        line = (head + suffix.lstrip()).rstrip() if suffix else head.rstrip()
        lines = [f"{line}\n{fence}{info}\n{text}\n{fence}"]
    else:
        lines = [head + _body(text, row.style) + suffix]
    lines += [write_row(template, child, indent + "  ") for child in row.children]
    return "\n".join(lines)


def _body(text: str, style: Style) -> str:
    if style == "quote":
        return f"“{text}”"
    if style == "plain":
        return text
    ticks = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=0))
    pad = " " if text[:1] in {"`", " "} or text[-1:] in {"`", " "} else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


# ---- reading


def read_document(text: str) -> tuple[Language, tuple[Section, ...]] | None:
    """The sections of a document of ours, in the order they stand; None where the title is not in the text.

    What stands before the title and after a closing summary tag is a client's wrapper and is passed over.
    """
    titles: dict[str, Language] = {f"# {template(language).title}": language for language in LANGUAGES}
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if line in titles), None)
    if start is None:
        return None
    language = titles[lines[start]]
    return language, tuple(_read_sections(template(language), lines[start + 1 :]))


def _read_sections(template: Template, lines: list[str]) -> Iterator[Section]:
    names = {heading: name for name, heading in template.headings.items()}
    name: str | None = None
    body: list[str] = []
    fence = ""
    for line in lines:
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith(_CLOSING_TAG):
            break
        elif (opened := _FENCE.match(line)) is not None:
            fence = opened[1]
        elif line.startswith("## "):
            if name is not None:
                yield _read_section(template, name, body)
            name, body = names.get(line[3:].strip(), ""), []
            continue
        body.append(line)
    if name is not None:
        yield _read_section(template, name, body)


def _read_section(template: Template, name: str, lines: list[str]) -> Section:
    more_form = _form(template.more)
    rows: list[Row] = []
    more = 0
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if (left_out := more_form.fullmatch(line)) and left_out[1].isdigit():
            more += int(left_out[1])
        elif line.strip() and line != template.none:
            row, child, position = _read_row(template, lines, position)
            if child and rows:
                last = rows[-1]
                rows[-1] = Row(last.text, last.entry, last.style, last.label, last.marks, (*last.children, row))
            elif row.text:
                rows.append(row)
    return Section(name, tuple(rows), more)


def _read_row(template: Template, lines: list[str], position: int) -> tuple[Row, bool, int]:
    """The row whose first line stands before `position`; whether it is a child; where the next row starts."""
    line = lines[position - 1]
    if _FENCE.match(line):
        text, _, position = _read_fence(lines, position - 1)
        return Row(text, style="plain"), False, position
    bullet = _BULLET.match(line)
    if bullet is None:
        return Row(line.strip(), style="plain"), False, position
    child = bullet[1] == "  "
    rest, label = bullet[2] or "", ""
    for key, words in template.labels.items():
        if rest.startswith(f"{words}:") and rest[len(words) + 1 : len(words) + 3] in _AFTER_LABEL:
            rest, label = rest[len(words) + 2 :], key
            break
    if position < len(lines) and _FENCE.match(lines[position]) and (bare := _bare(template, rest)):
        text, style, position = _read_fence(lines, position)
        return Row(text, bare[1], style, label, bare[0]), child, position
    return _read_inline(template, rest, label), child, position


_AFTER_LABEL = {"", " “", " `", " (", " ["}


def _bare(template: Template, rest: str) -> tuple[Marks, str] | None:
    if not rest.strip():
        return (), ""
    match = _BARE.match(rest)
    return None if match is None else (_read_marks(template, match[1]), read_id(match[2] or ""))


def _read_inline(template: Template, rest: str, label: str) -> Row:
    if match := _QUOTED.match(rest):
        return Row(match[1], read_id(match[3] or ""), "quote", label, _read_marks(template, match[2]))
    if match := _CODED.match(rest):
        text = match[2]
        if len(text) > 2 and text[0] == text[-1] == " ":
            text = text[1:-1]
        return Row(text, read_id(match[4] or ""), "code", label, _read_marks(template, match[3]))
    return Row(rest.strip(), style="plain", label=label)


def _read_fence(lines: list[str], position: int) -> tuple[str, Style, int]:
    opened = _FENCE.match(lines[position])
    assert opened is not None
    end = position + 1
    while end < len(lines) and lines[end] != opened[1]:
        end += 1
    return "\n".join(lines[position + 1 : end]), "code" if opened[2] else "quote", end + 1


@cache
def _form(phrase: str) -> re.Pattern[str]:
    return re.compile("(.*)".join(re.escape(part) for part in phrase.split("{}")))


def _read_marks(template: Template, text: str | None) -> Marks:
    marks: list[tuple[str, str]] = []
    for part in (text or "").split("; ") if text else ():
        for key, phrase in template.marks.items():
            if match := _form(phrase).fullmatch(part):
                marks.append((key, match[1] if match.groups() else ""))
                break
    return tuple(marks)
