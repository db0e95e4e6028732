"""The words by which rules, guesses, findings, decisions and failed attempts are known, in English and Chinese.

They choose which sentences are quoted and never change one. Recall comes before precision for the user's rules, and
a hedge always wins over a strong word beside it. The words are data: `templates/signals.toml`.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

_WORDS = tomllib.loads(files("core.summary").joinpath("templates/signals.toml").read_text("utf-8"))
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")


class Signal:
    """One kind of words. English and Chinese are looked for only where the text has letters of theirs."""

    def __init__(self, name: str) -> None:
        whole = [inner for form in _WORDS[name]["en"] if (inner := _inside(form))]
        other = [form for form in _WORDS[name]["en"] if not _inside(form)]
        # One check for the start of a word in front of all alternatives is many times faster than one in each.
        joined = [rf"\b(?:{'|'.join(whole)})\b"] if whole else []
        self._english = re.compile("|".join((*joined, *other)))
        self._chinese = re.compile("|".join(_WORDS[name]["zh"]) or r"(?!)")

    def search(self, text: str) -> bool:
        """Whether the text holds any of them; case does not matter."""
        if self._english.search(text.lower()):
            return True
        return not text.isascii() and self._chinese.search(text) is not None


def _inside(form: str) -> str:
    r"""The alternatives of `\b(?:…)\b`; empty for a form of any other shape."""
    if not (form.startswith(r"\b(?:") and form.endswith(r")\b")):
        return ""
    inner = form[5:-3]
    depth = 0
    for part in re.findall(r"\\.|\[[^\]]*\]|[()]", inner):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if depth < 0:
            return ""
    return inner


RULE = Signal("rule")
DUTY = Signal("duty")
ONE_STEP = Signal("one_step")
ACKNOWLEDGED = Signal("acknowledged")
REMARK = Signal("remark")
CONCEDED = Signal("conceded")
UNABLE = Signal("unable")
NAMES_NOTHING = Signal("names_nothing")
HEDGE = Signal("hedge")
CAUSE = Signal("cause")
VERIFIED = Signal("verified")
NEGATED = Signal("negated")
DECIDED = Signal("decided")
USER_DECIDED = Signal("user_decided")
DECIDED_PLAINLY = Signal("decided_plainly")
INTENDED = Signal("intended")
REASON = Signal("reason")
FAILED = Signal("failed")
REPORTED = Signal("reported")
LEFT = Signal("left")
OPEN_QUESTION = Signal("open_question")
ASKED_USER = Signal("asked_user")
POINTS_BACK = Signal("points_back")
LOGGED = Signal("logged")

_COMMON = frozenset(" ".join(_WORDS["common"]["en"]).split())
_COMMON_HAN = frozenset(" ".join(_WORDS["common"]["zh"]).split())


def words_only(sentence: str) -> str:
    """The sentence without inline code, whose names are no words of the speaker."""
    return _INLINE_CODE.sub("``", sentence)


def asks(sentence: str) -> bool:
    """Whether it ends as a question."""
    return sentence.rstrip("\"'”’)）*_ ").endswith(("?", "？"))


def content_words(text: str) -> frozenset[str]:
    """Words that say what a sentence is about: Latin words by their first letters, Han characters in pairs."""
    words = {word.lower()[:5] for word in _LATIN.findall(text) if word.lower() not in _COMMON}
    for run in _HAN_RUN.findall(text):
        words |= {run[i : i + 2] for i in range(len(run) - 1)} - _COMMON_HAN
    return frozenset(words)
