"""What stands for the reading back of a file that is too large to be read twice: the very bytes."""

import secrets
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core import approving
from core.agents.protocol import Stamp
from core.approving import approve, stands_unread
from core.commit import Journal, undo
from core.opening import open_session
from core.patch import Append
from core.planning import plan_session
from core.policies.settings import Settings
from tests.commands.writing import small_session


@pytest.mark.parametrize("large", [True, False])
def test_a_large_file_is_compared_byte_by_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(small_session())
    monkeypatch.setattr(approving, "LARGE", 0 if large else 1 << 40)
    stamp = Stamp(time.time(), lambda: secrets.token_hex(16))
    plan = plan_session(open_session(path), "handoff", Settings(target=5000), stamp)
    assert plan.patch is not None
    opened: list[Path] = []

    def counted(path: Path, *more: object, **keywords: object) -> object:
        opened.append(path)
        return open_session(path)

    monkeypatch.setattr(approving, "open_session", counted)
    before, mark = path.read_bytes(), plan.opened.session.fingerprint
    assert not stands_unread(plan.patch, mark)
    assert approve(plan, stamp, agent_stopped=True).state == "done"
    assert len(opened) == (0 if large else 1)
    assert open_session(path).view.items == plan.after.view.items
    assert stands_unread(plan.patch, mark) == large
    (change,) = plan.patch.changes
    assert isinstance(change, Append)
    for other in (replace(change, data=change.data[:-1] + b"x"), replace(change, at=change.at - 1)):
        assert not stands_unread(replace(plan.patch, changes=(other,)), mark)
    assert not stands_unread(plan.patch, "another")
    with Journal() as journal:
        undo(path, journal, time.time())
    assert path.read_bytes() == before
