"""What must hold of a commit in every format that can be written, on the same small story; a row for each known bug."""

import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.agents.protocol import Stamp
from core.approving import approve, request_for
from core.commit import Journal, can_write, commit, recover, undo
from core.errors import CommitRefused, SeamlineError, Stale
from core.opening import Opened, open_session
from core.planning import Plan, plan_session, revise
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary
from tests.core.dsh_sessions import frames
from tests.core.every_format import STORIES, Story
from tests.core.troubling import unprivileged

LONG_AGO = 1_700_000_000_123_456_789
STRUCTURAL = ("pairs-whole", "kept-unchanged", "gone", "view-proven")


def stamp() -> Stamp:
    return Stamp(time.time(), lambda: secrets.token_hex(16))


def written(story: Story, folder: Path, lines: Sequence[bytes] | None = None, end: bytes = b"\n") -> Path:
    path = story.write(folder, lines, end)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


def planned(path: Path) -> Plan:
    """All but the last turn is summarised; the checks of such a short story's figures and summary are left out."""
    seen = open_session(path)
    gone = [unit for unit in seen.units if "summarize" in seen.options(unit).allowed][:-2]
    listed = tuple(Disposition(unit.id, "summarize", "asked") for unit in gone)
    plan = revise(seen, Proposal("handoff", listed, summary=Summary("person", "What was done.")), Settings(), stamp())
    broken = [check for check in plan.checks if not check.ok and check.id in STRUCTURAL]
    assert not broken, broken
    return replace(plan, checks=tuple(check for check in plan.checks if check.ok))


@pytest.fixture(params=sorted(STORIES))
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Story:
    """Each format whose writer is there."""
    made = STORIES[request.param]()
    seen = open_session(written(made, tmp_path / "look"))
    try:
        seen.agent.encode(seen.session, seen.view, Proposal("handoff"), stamp())
    except CommitRefused as refused:
        if "not written yet" in str(refused):
            pytest.skip(str(refused))
    return made


@pytest.fixture
def path(story: Story, tmp_path: Path) -> Path:
    return written(story, tmp_path / "sessions")


def kept_as_it_was(before: bytes, plan: Plan, after: bytes) -> None:
    """An append leaves all that stood there; a replacement each entry that stays."""
    if plan.commits_as == "append":
        assert after.startswith(before)
        return
    decided = {disposition.unit for disposition in plan.proposal.dispositions}
    for unit in plan.opened.units:
        for entry in unit.entries if unit.id not in decided else ():
            found = plan.opened.session.entry(entry)
            assert found is not None and plan.opened.session.raw(found) in after


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.rglob("*"))


def committed(path: Path) -> Plan:
    """Commit; a fresh reader must see what was approved, nothing else may have changed, and undo must be exact."""
    before, status, around = path.read_bytes(), path.stat(), names(path)
    plan = planned(path)
    assert plan.commits_as in ("append", "replace"), plan.why
    approve(plan, stamp(), agent_stopped=True)
    after = path.read_bytes()
    assert open_session(path).view.items == plan.after.view.items
    kept_as_it_was(before, plan, after)
    assert names(path) == around
    with Journal() as journal:
        undo(path, journal, time.time())
    assert (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) == (before, status.st_mode, LONG_AGO)
    path.write_bytes(after)
    return plan


def test_a_fresh_reader_sees_what_was_approved(path: Path) -> None:
    """H50."""
    committed(path)


@pytest.mark.parametrize("more", [b'{"type":"custom","n":1}\n', b'{"type":"cus'], ids=["entry", "half an entry"])
def test_what_came_since_the_proposal_is_never_lost(path: Path, more: bytes) -> None:
    """H14."""
    plan = planned(path)
    with open(path, "ab") as file:
        file.write(more)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    grown = path.read_bytes()
    with pytest.raises(Stale, match="has changed since"):
        approve(plan, stamp(), agent_stopped=True)
    assert path.read_bytes() == grown


def test_of_two_commits_at_once_one_is_made(path: Path) -> None:
    """H15."""
    plans, outcomes = [planned(path), planned(path)], list[str]()

    def work(plan: Plan) -> None:
        try:
            outcomes.append(approve(plan, stamp(), agent_stopped=True).state)
        except SeamlineError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert outcomes.count("done") == 1, outcomes
    assert any("locked" in one or "changed" in one for one in outcomes), outcomes


def test_a_prune_that_frees_nothing_writes_nothing(path: Path) -> None:
    """H18."""
    before = path.stat()
    for _ in range(2):
        plan = plan_session(open_session(path), "handoff", Settings(), stamp())
        assert plan.commits_as == "none"
        with pytest.raises(CommitRefused, match="nothing to commit"):
            request_for(plan, True)
    after = path.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_partial_last_line_is_never_glued_to_ours(story: Story, tmp_path: Path) -> None:
    """H21."""
    whole = written(story, tmp_path / "whole")
    half = (frames([story.lines[-1] + b"\n"]) if whole.suffix == ".zstd" else story.lines[-1])[:-9]
    torn = whole.read_bytes() + half
    path = story.write_bytes(tmp_path / "sessions", whole.read_bytes())
    path.write_bytes(torn)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    plan = planned(path)
    if plan.commits_as not in ("append", "replace"):
        assert plan.why
        return
    approve(plan, stamp(), agent_stopped=True)
    after = path.read_bytes()
    assert open_session(path).view.items == plan.after.view.items
    if plan.commits_as == "append" and path.suffix != ".zstd":
        assert after[len(torn) :].lstrip(b"\r").startswith(b"\n")


ODD = {
    "H22 separators": "a\u2028b\u2029c\u0085d\x7fe",
    "H22 controls": "a\\u000bb\\u000cc\\u001cd",
    "H25 lone halves": "a \\ud83d b \\ude00 c",
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_characters_are_kept_byte_for_byte(story: Story, tmp_path: Path, odd: str) -> None:
    """H22, H25."""
    lines = [line.replace(b"three", b"three " + ODD[odd].encode()) for line in story.lines]
    path = written(story, tmp_path / "sessions", lines)
    committed(path)


def test_a_byte_order_mark_is_kept(story: Story, tmp_path: Path) -> None:
    """H23."""
    if story.name.endswith(".zstd"):
        pytest.skip("a packed file has none")
    path = written(story, tmp_path / "sessions", [b"\xef\xbb\xbf" + story.lines[0], *story.lines[1:]])
    try:
        plan = planned(path)
    except SeamlineError as refused:
        pytest.skip(f"its client does not read such a file: {refused}")
    if plan.commits_as not in ("append", "replace"):
        assert plan.why
        return
    committed(path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("mixed", [False, True])
def test_line_ends_are_kept(story: Story, tmp_path: Path, mixed: bool) -> None:
    """H24."""
    if story.agent == "dsh":
        pytest.skip("dsh refuses a log with such line ends")
    lines = [line if mixed and at == 2 else line + b"\r" for at, line in enumerate(story.lines)]
    path = written(story, tmp_path / "sessions", lines)
    before = path.read_bytes()
    try:
        plan = planned(path)
    except SeamlineError as refused:
        pytest.skip(f"its client does not read such a file: {refused}")
    assert plan.commits_as in ("append", "replace"), plan.why
    committed(path)
    if plan.commits_as == "append":
        new = path.read_bytes()[len(before) :]
        assert new.count(b"\r\n") == new.count(b"\n") > 0


@pytest.mark.parametrize("form", ["relative", "chained"])
def test_a_link_stays_a_link(path: Path, tmp_path: Path, form: str) -> None:
    """H53."""
    folder = path.parent
    link = folder / f"link-{path.name}"
    link.symlink_to(path.name)
    if form == "chained":
        link = folder / f"second-{path.name}"
        link.symlink_to(f"link-{path.name}")
    try:
        plan = planned(link)
    except SeamlineError as refused:
        pytest.skip(f"its client goes by the name: {refused}")
    before = path.read_bytes()
    approve(plan, stamp(), agent_stopped=True)
    assert link.is_symlink() and not path.is_symlink()
    assert path.read_bytes() != before
    assert open_session(link).view.items == plan.after.view.items
    path.unlink()
    with pytest.raises(CommitRefused, match="leads nowhere"):
        can_write(link)


def failing(error: BaseException) -> Callable[[Path], str]:
    def reread(path: Path) -> str:
        raise error

    return reread


@pytest.mark.parametrize("step", ["locked", "start", "write", "written", "sync", "re-read", "end"])
def test_a_failure_at_each_stage_leaves_the_same_bytes(path: Path, step: str) -> None:
    """H57, H54: also where the disk is full."""
    before, status, around = path.read_bytes(), path.stat(), names(path)
    request = request_for(planned(path), True)

    def at(reached: str) -> None:
        if reached == step:
            raise OSError(28, "No space left on device") if step in ("write", "written") else KeyboardInterrupt

    with Journal() as journal:
        with pytest.raises((CommitRefused, KeyboardInterrupt)) as caught:
            commit(request, journal, stamp(), at)
        recover(journal, now=time.time())
    if step in ("write", "written"):
        assert "no space left" in str(caught.value)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, status.st_mtime_ns)
    assert names(path) == around
    assert approve(planned(path), stamp(), agent_stopped=True).state == "done"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_written_is_said_before_any_work(story: Story, what: str) -> None:
    """H61."""
    with unprivileged() as folder:
        path = written(story, folder / "sessions")
        place = path if what == "file" else path.parent
        place.chmod(0o444 if what == "file" else 0o555)
        with pytest.raises(CommitRefused, match="permission denied|folder is read-only"):
            can_write(path)
        seen: Opened = open_session(path)  # looking at it still works
        assert seen.view.items
        place.chmod(0o755)
