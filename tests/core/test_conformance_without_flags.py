"""What a session says of itself is enough: only a client that is not the newest has to be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agents import agent_named
from core.errors import ClientRefuses, SeamlineError
from core.files import Disk
from core.opening import open_session
from inspector.opening import session_at
from tests.core.model_view import comparable

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
CAPTURED = ("claude-code", "codex", "dsh", "grok-build", "openai-messages", "pi", "pi-0.73.1")


def cases() -> list[Path]:
    return [case for name in CAPTURED for case in sorted((DATA / name).glob("*/expected.json"))]


def place(case: Path) -> Path:
    """The session of a case, as a person would name it."""
    found = [path for path in sorted(case.parent.iterdir()) if path.name.startswith("session")]
    return session_at(found[0])


def name_of(case: Path) -> str:
    return f"{case.parents[1].name}/{case.parent.name}"


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_the_session_alone_gives_the_captured_view(case: Path) -> None:
    expected = json.loads(case.read_text("utf-8"))
    newest = agent_named(expected["agent"]).profile.newest_client
    if expected["agent"] == "pi" and expected["client_version"] != newest:
        assert case.parents[1].name == "pi-0.73.1"
        pytest.skip(f"captured with pi {expected['client_version']}: the session does not name the client")
    try:
        view = open_session(place(case)).view
    except (ClientRefuses, SeamlineError):
        assert "error" in expected
        return
    if not view.items and "error" in expected:
        assert Disk().size(place(case)) == 0  # an empty file is a session of no agent
        return
    assert comparable(item.to_json() for item in view.items) == comparable(expected["items"])


def test_what_has_to_be_said_is_one_thing() -> None:
    told = [case for case in cases() if case.parents[1].name == "pi-0.73.1"]
    assert 0 < len(told) < len(cases()) / 10
