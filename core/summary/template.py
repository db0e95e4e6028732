"""The fixed headings and phrases of the handoff document, in English and Chinese, and which of the two to use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from core.view import Item

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

LANGUAGE_SAMPLE = 20_000
"""Characters of one message that are looked at to tell the language."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\S*[/\\_.=<>(){}\[\]\d]\S*", re.DOTALL)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class Template:
    """The fixed texts of one language. Keys of `headings` are the section names, in order."""

    language: Language
    title: str
    intro: str
    focus: str
    none: str
    more: str
    headings: dict[str, str]
    labels: dict[str, str]
    marks: dict[str, str]
    optional: frozenset[str]


@cache
def template(language: Language) -> Template:
    """The handoff document's fixed texts."""
    data: dict[str, Any] = tomllib.loads(files("core.summary").joinpath("templates/handoff.toml").read_text("utf-8"))
    own = data[language]
    return Template(
        language=language,
        title=own["title"],
        intro=own["intro"].strip(),
        focus=own["focus"],
        none=own["none"],
        more=own["more"],
        headings={name: own["headings"][name] for name in data["order"]},
        labels=own["labels"],
        marks=own["marks"],
        optional=frozenset(data["optional"]),
    )


def is_request(item: Item) -> bool:
    """Whether the item is text of a real message of the user, not something that a client put in their name."""
    return item.role == "user" and item.kind == "text" and not item.mark and item.origin == "stored"


def language_of(items: Iterable[Item]) -> Language:
    """`zh` where the user's messages hold at least as many Han characters as plain Latin words, else `en`.

    Code, paths and identifiers say nothing about the language and are left out; a Han character stands for about
    as much as half a word, so mixed messages of a Chinese speaker count as Chinese. Kana: not Chinese.
    """
    han = words = kana = 0
    for item in items:
        if is_request(item):
            text = _CODE.sub(lambda code: " ".join(_HAN.findall(code[0])), item.text[:LANGUAGE_SAMPLE])
            han += len(_HAN.findall(text))
            kana += len(_KANA.findall(text))
            words += len(_WORD.findall(text))
    return "zh" if han >= max(1, words) and kana * 4 < han else "en"
