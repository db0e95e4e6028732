"""Our summaries among the messages: how one is written, and how it is known again.

The APIs have no place for a mark beside a message's text, so the text itself says what it is. A user's message: a
system message in the middle of a conversation is refused by some servers.
"""

from __future__ import annotations

import re

START = "Earlier messages of this conversation were replaced by this summary "
"""How each begins; plain ASCII without quotes, so that it reads the same in any JSON."""

_SUMMARY = re.compile(
    re.escape(START) + r"\((\d{1,9}) messages? behind it (?:was|were) kept\)\.\n\n<summary>\n.*", re.DOTALL
)
_END = "\n</summary>"


def wrapped(text: str, kept: int) -> str:
    """The message's text; `kept`: how many messages stand behind it, which tells later replies from older ones."""
    words = "1 message behind it was kept" if kept == 1 else f"{kept} messages behind it were kept"
    return f"{START}({words}).\n\n<summary>\n{text}{_END}"


def kept_behind(text: str) -> int | None:
    """How many messages stood behind a summary when it was made; None where the text is no summary of ours."""
    if not text.startswith(START) or not text.rstrip().endswith(_END.strip()):
        return None
    found = _SUMMARY.match(text)
    return int(found[1]) if found is not None else None
