"""A session that grows while the person reads: the new view is shown and asked for, nothing is approved unseen."""

from __future__ import annotations

import os
import pty
import secrets
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import Stale
from tests.commands.conftest import ROOT, Run
from tests.commands.writing import call, result, turns, user

NEW = [*list(turns(23))[66:], user(70, "and one more wish")]


class Terminal:
    """`seamline` at a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self.descriptor = descriptor
        self.shown = ""

    def read_to(self, words: str, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while words not in self.shown and self._read(end - time.monotonic()):
            pass
        assert words in self.shown, self.shown
        self.shown = self.shown.split(words, 1)[1]

    def _read(self, seconds: float) -> bool:
        """Whether anything more was shown in time."""
        ready, _, _ = select.select([self.descriptor], [], [], max(0.0, seconds))
        try:
            block = os.read(self.descriptor, 65536) if ready else b""
        except OSError:  # the terminal is gone with its program
            block = b""
        self.shown += block.decode("utf-8", "replace")
        return bool(block)

    def answer(self, text: str) -> None:
        os.write(self.descriptor, text.encode() + b"\n")

    def end(self) -> int:
        while self._read(20):
            pass
        return self.process.wait(10)


@contextmanager
def terminal(environment: dict[str, str], *words: object) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", *map(str, words)],
        env=environment,
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def grow(session: Path, *lines: bytes) -> bytes:
    with session.open("ab") as file:
        file.write(b"".join(lines))
    return session.read_bytes()


def test_a_session_that_grew_is_shown_again_and_asked_for_again(environment: dict[str, str], session: Path) -> None:
    with terminal(environment, "compact", session, "--target", "5000", "--agent-stopped") as shown:
        shown.read_to("? [y/N] ")
        grown = grow(session, *NEW)
        shown.answer("y")
        shown.read_to("has grown by 5 items since")
        shown.read_to("and one more wish")
        shown.read_to("? [y/N] ")
        assert session.read_bytes() == grown
        shown.answer("y")
        shown.read_to("committed ")
        assert shown.end() == 0
    assert session.read_bytes().startswith(grown)
    assert len(session.read_bytes()) > len(grown)


@pytest.mark.parametrize("answer", ["n", ""])
def test_the_second_question_can_be_answered_no(environment: dict[str, str], session: Path, answer: str) -> None:
    with terminal(environment, "compact", session, "--target", "5000", "--agent-stopped") as shown:
        shown.read_to("? [y/N] ")
        grown = grow(session, *NEW)
        shown.answer("y")
        shown.read_to("has grown by")
        shown.read_to("? [y/N] ")
        shown.answer(answer)
        assert shown.end() == 1
    assert session.read_bytes() == grown


@pytest.mark.parametrize("what", ["half an entry", "another branch"])
def test_what_is_no_growth_is_refused(environment: dict[str, str], session: Path, what: str) -> None:
    with terminal(environment, "compact", session, "--target", "5000", "--agent-stopped") as shown:
        shown.read_to("? [y/N] ")
        line = user(67, "a wish")
        more = line[:-20] if what == "half an entry" else line.replace(b"00000042", b"00000001")
        grown = grow(session, more)
        shown.answer("y")
        assert shown.end() == 1
    assert session.read_bytes() == grown
    assert ("being written to it right now" if what == "half an entry" else "no longer the same") in shown.shown


def test_a_call_that_was_touched_and_went_on_is_refused(own_folders: Path, tmp_path: Path) -> None:
    from core.agents.protocol import Stamp
    from core.opening import open_session
    from core.planning import revise
    from core.policies.settings import Settings
    from core.proposal import Disposition, Proposal
    from core.rebasing import rebased
    from tests.commands.writing import small_session

    path = tmp_path / "session.jsonl"
    path.write_bytes(small_session(3) + user(10, "next") + call(11, "read", {"path": "a"}, "open"))
    seen = open_session(path)
    stamp = Stamp(1.8e9, lambda: secrets.token_hex(16))
    last = Disposition(seen.units[-1].id, "drop", "asked")
    first = Disposition(seen.units[1].id, "drop", "asked")
    plans = [revise(seen, Proposal("handoff", one), Settings(), stamp) for one in ((first,), (first, last))]
    grow(path, result(12, "read", "open", "here"))
    again = rebased(plans[0], stamp)
    assert len(again.opened.view.items) == len(seen.view.items) or again.may_commit
    assert again.patch is not None and again.may_commit
    with pytest.raises(Stale, match="no longer the same|went on"):
        rebased(plans[1], stamp)


def test_undo_offers_the_old_view_as_a_fork(run: Run, session: Path) -> None:
    before = run("view", session, "--json").json["items"]
    assert run("compact", session, "--target", "5000", "--yes", "--agent-stopped").code == 0
    grown = grow(session, user(900, "a new message"))
    refused = run("undo", session, "--yes")
    assert refused.code == 1
    assert "seamline undo --as fork" in refused.first_line
    forked = run("undo", session, "--as", "fork", "--yes", "--json")
    assert forked.code == 0, forked.err
    made = Path(forked.json["receipt"]["result"])
    assert made != session
    assert session.read_bytes() == grown
    seen = run("view", made, "--json").json["items"]
    assert [(item["type"], item.get("text")) for item in seen] == [(item["type"], item.get("text")) for item in before]
    assert run("undo", made, "--yes").code == 0
    assert not made.exists()


def test_the_old_view_of_a_replaced_file_as_a_fork(run: Run, tmp_path: Path) -> None:
    from tests.core.message_files import reply, write
    from tests.core.message_files import result as answer
    from tests.core.message_files import user as said

    messages = []
    for turn in range(9):
        messages += [
            said(f"wish {turn}"),
            reply(None, f"c{turn}"),
            answer(f"c{turn}", f"line {turn}\n" * 200),
            reply("so"),
        ]
    path = write(tmp_path / "chat.json", messages, indent=1)
    old = path.read_bytes()
    assert run("compact", path, "--target", "3000", "--yes", "--agent-stopped").code == 0
    assert path.read_bytes() != old
    path.write_bytes(path.read_bytes().replace(b"wish 8", b"another"))
    assert run("undo", path, "--yes").code == 1
    forked = run("undo", path, "--as", "fork", "--yes", "--json")
    assert forked.code == 0, forked.err
    assert Path(forked.json["receipt"]["result"]).read_bytes() == old


def test_a_fork_at_a_past_entry(run: Run, session: Path) -> None:
    whole = run("view", session, "--json").json["items"]
    before = session.read_bytes()
    assert run("compact", session, "--at", "00000003").code == 2
    forked = run("compact", session, "--as", "fork", "--at", "00000003", "--yes", "--json")
    assert forked.code == 0, forked.err
    made = forked.json["receipt"]["result"]
    seen = run("view", made, "--json").json["items"]
    assert [item.get("text") for item in seen] == [item.get("text") for item in whole[: len(seen)]]
    assert len(seen) == 4  # a wish, words and a call, and the result
    assert session.read_bytes() == before
    refused = run("compact", session, "--as", "fork", "--at", "no-such-entry", "--yes")
    assert (refused.code, "no entry" in refused.first_line) == (1, True)


def test_a_fork_from_before_a_compaction(run: Run, session: Path) -> None:
    whole = run("view", session, "--json").json["items"]
    assert run("compact", session, "--target", "5000", "--yes", "--agent-stopped").code == 0
    forked = run("compact", session, "--as", "fork", "--at", f"{66:08x}", "--yes", "--json")
    assert forked.code == 0, forked.err
    seen = run("view", forked.json["receipt"]["result"], "--json").json["items"]
    assert [item.get("text") for item in seen] == [item.get("text") for item in whole]
