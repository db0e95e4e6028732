"""What the writers of the line-based formats share: lines, clock, ids, and the figures of an invented provider."""

from __future__ import annotations

import hashlib
import json
import random
from datetime import UTC, datetime
from typing import Any

from scripts.samples.measure import about
from scripts.samples.story import Action, Aside, Reply, ShellByUser, Story, UserSays


class Recording:
    """A session in the making."""

    agent = ""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.random = random.Random(f"{self.agent}/{story.name}")
        self.milliseconds = story.start * 1000 + 163
        self.lines: list[dict[str, Any]] = []
        self.context = 0
        """Tokens in the window, as the provider would count them."""
        self._number = 0

    def write(self) -> None:
        """Everything in its order."""
        self.head()
        for event in self.story.events:
            self.event(event)
        self.end()

    def data(self) -> bytes:
        """The lines as a file."""
        made = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        return "".join(f"{line}\n" for line in made).encode("utf-8")

    def event(self, event: UserSays | Reply | ShellByUser | Aside) -> None:
        """One event; side branches are left out, and a command of the user is told in the user's words."""
        if isinstance(event, UserSays):
            self.wait(self.random.uniform(20, 150))
            self.user(event.text, event.image)
        elif isinstance(event, Reply):
            self.reply(event)
        elif isinstance(event, ShellByUser):
            self.wait(self.random.uniform(10, 40))
            self.user(f"I ran `{event.command}` (exit code {event.exit_code}):\n\n{event.output}")

    # To be told by each format

    def head(self) -> None:
        """What stands before the first message."""

    def user(self, text: str, image: bytes | None = None) -> None:
        """A message of the user; `image` is a PNG, which stands in side branches only."""
        raise NotImplementedError

    def reply(self, event: Reply) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """What stands behind the last message."""

    # Lines, ids and the clock

    def line(self, value: dict[str, Any]) -> None:
        """Add one line."""
        self.lines.append(value)

    def digest(self, what: str) -> str:
        """Sixty-four hexadecimal digits, new at each call and always the same ones."""
        self._number += 1
        return hashlib.sha256(f"{self.agent}/{self.story.name}/{what}/{self._number}".encode()).hexdigest()

    def uuid(self, what: str = "id") -> str:
        digest = self.digest(what)
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"

    def timed_uuid(self) -> str:
        """A UUID of version 7: its first half is the time."""
        digest, stamp = self.digest("uuid7"), f"{self.milliseconds:012x}"
        return f"{stamp[:8]}-{stamp[8:]}-7{digest[:3]}-a{digest[3:6]}-{digest[6:18]}"

    def wait(self, seconds: float) -> None:
        self.milliseconds += int(seconds * 1000) + 1

    def work(self, event: Reply, output: int) -> None:
        """The time that a reply of `output` tokens takes."""
        self.wait(1.4 + output * 0.021 + self.random.uniform(0, 1.5))

    def time(self) -> str:
        whole = datetime.fromtimestamp(self.milliseconds // 1000, UTC)
        return f"{whole:%Y-%m-%dT%H:%M:%S}.{self.milliseconds % 1000:03d}Z"

    def output_of(self, event: Reply) -> int:
        """Tokens of a reply."""
        thought = about(event.thinking) if self.story.reasons else 0
        return (
            thought + about(event.text) + sum(about(json.dumps(dict(a.call.arguments))) + 12 for a in event.actions) + 2
        )

    def absolute(self, path: str) -> str:
        """A path as agents that want absolute ones name it."""
        return path if path.startswith("/") else f"{self.story.cwd}/{path}"


def numbered(action: Action, separator: str) -> str:
    """A read result with a number before each line, as most agents show files."""
    first = int(action.call.arguments.get("offset") or 1)
    lines = action.result.text.split("\n")
    return "\n".join(f"{number}{separator}{line}" for number, line in enumerate(lines, first))


def patch_of(action: Action) -> str:
    """An edit or a new file as codex's patch format has it."""
    given = action.call.arguments
    if action.call.kind == "write":
        body = "\n".join(f"+{line}" for line in given["content"].split("\n"))
        return f"*** Begin Patch\n*** Add File: {given['path']}\n{body}\n*** End Patch"
    old = "\n".join(f"-{line}" for line in given["old"].split("\n"))
    new = "\n".join(f"+{line}" for line in given["new"].split("\n"))
    return f"*** Begin Patch\n*** Update File: {given['path']}\n@@\n{old}\n{new}\n*** End Patch"


def shell_output(action: Action) -> str:
    """What a command printed, with a word on what is not shown of it."""
    result = action.result
    if not result.shown_from:
        return result.text
    return f"[lines {result.shown_from}-{result.lines_in_all} of {result.lines_in_all}]\n{result.text}"
