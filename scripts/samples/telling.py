"""Tells a story over a small workspace, so that reads, searches and edits agree with each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.samples.story import Action, Aside, Call, Event, Fact, Reply, Result, ShellByUser, UserSays, Where


def project(folder: str) -> dict[str, str]:
    """The files of an invented project, by path: each is kept beside this module as PATH.txt."""
    root = Path(__file__).parent / folder
    return {
        path.relative_to(root).as_posix().removesuffix(".txt"): path.read_text("utf-8")
        for path in sorted(root.rglob("*.txt"))
    }


class Telling:
    """Collects the events and facts of a story while its files change."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = dict(files)
        self.events: list[Event] = []
        self.facts: list[Fact] = []

    # What happens

    def user(self, text: str, image: bytes | None = None) -> None:
        self.events.append(UserSays(text, image))

    def reply(self, text: str = "", *actions: Action, thinking: str = "") -> None:
        self.events.append(Reply(text, thinking, actions))

    def shell(self, command: str, output: str, exit_code: int = 0) -> None:
        self.events.append(ShellByUser(command, output, exit_code))

    def aside(self, *events: UserSays | Reply) -> None:
        self.events.append(Aside(events))

    # What the tools do

    def read(self, path: str, offset: int | None = None, limit: int | None = None) -> Action:
        """Read a file of the workspace, or `limit` lines of it from line `offset` on."""
        arguments: dict[str, Any] = {"path": path}
        lines = self.files[path].split("\n")
        if offset is None and limit is None:
            return Action(Call("read", arguments), Result(self.files[path]), 0.04)
        first = offset or 1
        last = min(first - 1 + (limit or len(lines)), len(lines))
        arguments |= {"offset": first, "limit": limit or len(lines)}
        left = len(lines) - last
        result = Result("\n".join(lines[first - 1 : last]), lines_left=left, next_line=last + 1 if left else 0)
        return Action(Call("read", arguments), result, 0.03)

    def search(self, pattern: str, path: str = ".") -> Action:
        """Search the workspace below `path` for a regular expression."""
        hits = [
            f"{name}:{number}: {line}"
            for name, text in sorted(self.files.items())
            if path == "." or name == path or name.startswith(path.rstrip("/") + "/")
            for number, line in enumerate(text.split("\n"), start=1)
            if re.search(pattern, line)
        ]
        result = Result("\n".join(hits) or "No matches found")
        return Action(Call("search", {"pattern": pattern, "path": path}), result, 0.08)

    def edit(self, path: str, old: str, new: str) -> Action:
        """Replace a text that stands in a file exactly once."""
        count = self.files[path].count(old)
        if count != 1:
            raise ValueError(f"{path}: the text to replace stands there {count} times: {old[:60]!r}")
        self.files[path] = self.files[path].replace(old, new)
        return Action(Call("edit", {"path": path, "old": old, "new": new}), Result(), 0.05)

    def write(self, path: str, content: str) -> Action:
        self.files[path] = content
        return Action(Call("write", {"path": path, "content": content}), Result(), 0.05)

    def remove(self, path: str) -> Action:
        """Delete a file of the workspace from the shell."""
        del self.files[path]
        return self.run(f"rm {path}", "", seconds=0.1)

    def run(self, command: str, output: str, exit_code: int = 0, seconds: float = 2.0) -> Action:
        return Action(Call("shell", {"command": command}), Result(output, exit_code, exit_code != 0), seconds)

    def tail(self, command: str, output: str, exit_code: int, seconds: float, lines: int) -> Action:
        """Run a command of whose output the agent shows only the last `lines` lines."""
        all_lines = output.split("\n")
        shown = "\n".join(all_lines[-lines:])
        result = Result(
            shown,
            exit_code,
            exit_code != 0,
            shown_from=len(all_lines) - lines + 1,
            lines_in_all=len(all_lines),
        )
        return Action(Call("shell", {"command": command}), result, seconds)

    def plan(self, *steps: tuple[str, str]) -> Action:
        return Action(Call("plan", {"steps": steps}), Result(), 0.02)

    # What is true of it

    def fact(self, kind: str, text: str, **more: Any) -> None:
        """Note words of the last event as a planted truth. Raises ValueError where they do not stand there."""
        event = len(self.events) - 1
        for where, action, words in _words(self.events[event]):
            if text in words:
                self.facts.append(Fact(kind, text, event, where, action, more))
                return
        raise ValueError(f"event {event} does not say {text!r}")


def _words(event: Event) -> Iterable[tuple[Where, int, str]]:
    if isinstance(event, UserSays):
        yield "text", 0, event.text
    elif isinstance(event, Reply):
        yield "text", 0, event.text
        yield "thinking", 0, event.thinking
        for number, action in enumerate(event.actions):
            yield "result", number, action.result.text
            if action.call.kind == "plan":
                yield "arguments", number, "\n".join(text for text, _ in action.call.arguments["steps"])
