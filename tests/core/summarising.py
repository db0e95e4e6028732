"""Small histories made by hand, for tests of summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.agents.protocol import Profile, Tool
from core.summary.facts import collect
from core.summary.offline import write_offline
from core.summary.state import Facts
from core.view import Item, Mark, Seen, Sight, Source

TOOLS = (
    Tool("read", "read", "path", reobtainable=True),
    Tool("write", "write", "path"),
    Tool("edit", "edit", "path"),
    Tool("bash", "shell", command="command"),
    Tool("grep", "search", "path", "pattern", reobtainable=True),
    Tool("update_plan", "plan", protected=True),
    Tool("todo", "plan", protected=True),
    Tool("web_fetch", "web", command="url"),
)
PROFILE = Profile("pi", "pi", "1.6.0", 16_384, 20_000, 1_200, "a test's", {tool.name: tool for tool in TOOLS})


class Words:
    """Counts words as tokens: fast, and the same everywhere."""

    def text(self, text: str) -> int:
        return len(text.split())


@dataclass
class History:
    """What was said and done, entry by entry; ids are `e1`, `e2`, …"""

    seen: list[Seen] = field(default_factory=list[Seen])
    sight: Sight = "visible"
    left_at: str | None = None
    entries: int = 0

    def _add(self, item: Item) -> str:
        self.seen.append(Seen(item, self.sight, self.left_at))
        return item.source[0].entry

    def _source(self) -> tuple[Source, ...]:
        self.entries += 1
        return (Source(f"e{self.entries}", 0),)

    def user(self, text: str, mark: Mark = "") -> str:
        return self._add(Item("user", "text", text=text, source=self._source(), mark=mark))

    def agent(self, text: str) -> str:
        return self._add(Item("assistant", "text", text=text, source=self._source()))

    def tool(self, name: str, arguments: Any, result: str | None = "ok", failed: bool = False) -> str:
        call = f"call_{self.entries}"
        at = self._add(
            Item("assistant", "tool_call", call_id=call, name=name, arguments=arguments, source=self._source())
        )
        if result is not None:
            at = self._add(
                Item(
                    "tool", "tool_result", text=result, call_id=call, name=name, is_error=failed, source=self._source()
                )
            )
        return at

    def run(self, command: str, output: str = "", code: int = 0) -> str:
        text = f"{output}\n\nCommand exited with code {code}" if code else output
        return self.tool("bash", {"command": command}, text, failed=code != 0)

    @property
    def items(self) -> list[Item]:
        return [one.item for one in self.seen]

    def facts(self, kept: Sequence[Item] = (), **more: Any) -> Facts:
        return collect(self.seen, kept, PROFILE, **more)

    def summary(self, budget: int = 5_000, kept: Sequence[Item] = (), **more: Any) -> str:
        return write_offline(self.seen, kept, PROFILE, Words(), budget, **more).text


def texts(found: Sequence[Any]) -> list[str]:
    """The texts of quotes or claims."""
    return [one.text for one in found]
