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


def _any(name: str) -> re.Pattern[str]:
    return re.compile("|".join((*_WORDS[name]["en"], *_WORDS[name]["zh"])), re.IGNORECASE)


RULE = _any("rule")
HEDGE = _any("hedge")
CAUSE = _any("cause")
VERIFIED = _any("verified")
NEGATED = _any("negated")
DECIDED = _any("decided")
USER_DECIDED = _any("user_decided")
DECIDED_PLAINLY = _any("decided_plainly")
INTENDED = _any("intended")
REASON = _any("reason")
FAILED = _any("failed")
REPORTED = _any("reported")
LEFT = _any("left")
OPEN_QUESTION = _any("open_question")
ASKED_USER = _any("asked_user")
POINTS_BACK = _any("points_back")
LOGGED = _any("logged")

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
