"""The sessions that are measured are sound ones, and the floor reads every line of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import floor
from bench.large import WRITERS
from core.opening import open_session

SIZE = 1_500_000


@pytest.mark.parametrize("agent", WRITERS)
def test_large_sessions_are_sound(agent: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    WRITERS[agent](path, SIZE)
    opened = open_session(path)
    assert opened.agent.name == agent
    assert not opened.session.damage
    assert SIZE <= path.stat().st_size < SIZE * 2
    assert opened.usage.current and opened.usage.boundaries
    assert floor.main(agent, str(path)) == 0


@pytest.mark.parametrize("agent", WRITERS)
def test_the_floor_reads_to_the_last_line(agent: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    WRITERS[agent](path, SIZE)
    with path.open("ab") as file:
        file.write(b"{")
    with pytest.raises(Exception, match="truncated"):
        floor.main(agent, str(path))
