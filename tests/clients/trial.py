"""What is done with each session. The judge is the real client: it must send what was approved and is shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.clients.client import OK, PROMPT, Client, Reply
from tests.clients.command import CommandFailed, Seamline
from tests.clients.differences import differences
from tests.clients.edits import BUILDERS, BY_HAND, Edit, a_little_more, fulfilled
from tests.clients.stored import State, contents, mark, put_back, saved, size_of, state_of
from tests.clients.subjects import Subject
from tests.clients.table import Row

TIGHT = 1.05
"""A window of this times the view makes every policy act."""

NATIVE_SUMMARY = "## Goal\nThe client's own summary of what came before.\n\n## Next Steps\nGo on."
NATIVE_KEEP = 3_000
"""Tokens that the client's own compaction keeps: few, so that it always has something to do."""

ODD_MODE = 0o640
ODD_TIME = 1_600_000_000_123_456_789
"""Permissions and a time of change (nanoseconds since 1970) that nothing would set by chance."""

CLEARLY = 120
"""A text of so many characters is not repeated by chance."""


Items = Sequence[Mapping[str, Any]]
Turns = tuple[Sequence[str], Sequence[Reply]]
"""Prompts, and the replies that answer them."""


class Trial:
    """One session, one client. `report` gets each row as soon as it is known."""

    def __init__(
        self, client: Client, seamline: Seamline, subject: Subject, folder: Path, report: Callable[[Row], None]
    ) -> None:
        self.client = client
        self.seamline = seamline
        self.subject = subject
        self.folder = folder
        self.report = report
        self.edit_file = folder / "edit.json"
        folder.mkdir(parents=True)
        self.source = subject.put(folder)

    # What can be tried

    def commits(self) -> None:
        """One commit on an untouched session, and all that can come after it."""
        session = self.placed("session")
        mark(session, ODD_MODE, ODD_TIME)
        untouched = state_of(session)
        with self.row("commit, resume") as row:
            full = self.seamline.view(session)
            plan = self._commit(row, session)
            if contents(state_of(session)) == contents(untouched):
                row.problems.append("the commit changed nothing")
            lived, native = self._copied(session, "lived"), self._copied(session, "native")
            lived = self.resume(row, lived, plan["after"]["items"], self.client.turns(1))
        if row.problems:
            return
        self._a_little_more(session, untouched)
        self._own_compaction(native, plan, full)
        self._goes_on(lived)

    def _a_little_more(self, session: Path, untouched: State) -> None:
        """A second, small commit right on top of the first; a copy is resumed, and then both are taken back."""
        states = [untouched, state_of(session)]
        with self.row("a little more, resume, undo all") as row:
            candidates = list(a_little_more(self.seamline.plan(session), self.seamline.view(session)))
            if candidates:
                edited, _ = self._edited(session, [], candidates)
                self._commit(row, session, ["--edit", str(self.edit_file)], edited)
                self.resume(row, self._copied(session, "a-little-more"), edited["after"]["items"])
            else:
                states.pop()
                row.notes.append("nothing was left to shorten: only the first commit is taken back")
            for wanted in reversed(states):
                said = self.seamline.undo(session)
                # The time of change is that of before the first commit; it was never told to the second one.
                if said.status or state_of(session) != wanted:
                    row.problems.append(f"undo: exit {said.status}: {said.error}: {state_of(session)}, not {wanted}")

    def _own_compaction(self, session: Path, plan: dict[str, Any], full: Items) -> None:
        """The client's own compaction on top of our commit, after more turns where little was kept."""
        kept = plan["after"]["tokens"]["value"] - (plan["summary"] or {"tokens": 0})["tokens"]
        more = self.client.turns(4) if kept < 2 * NATIVE_KEEP else ((), ())
        with self.row("own compaction on that, resume") as row:
            session = self.resume(row, session, plan["after"]["items"], more)
            self._native(row, session, plan, full)
            self.resume(row, session, self.seamline.view(session))

    def _goes_on(self, session: Path) -> None:
        """More turns, commit, more turns, the client's own compaction, more turns, commit."""
        with self.row("work on, commit, resume") as row:
            full = self.seamline.view(session)
            plan = self._commit(row, session)
            session = self.resume(row, session, plan["after"]["items"], self.client.turns(2))
            self._undo_is_refused(row, session)
        if row.problems:
            return
        with self.row("work on, own compaction, resume") as row:
            self._native(row, session, plan, full)
            self.resume(row, session, self.seamline.view(session), self.client.turns(3))
        if row.problems:
            return
        with self.row("commit on that, resume") as row:
            plan = self._commit(row, session)
            self.resume(row, session, plan["after"]["items"])

    def edits(self) -> None:
        """Proposals changed by `--edit`, each committed to the same untouched session and resumed."""
        session = self.placed("edited")
        untouched = saved(session, self.folder / "untouched")
        flags, plan = self.acting(session)
        items = self.seamline.view(session)
        for name, build in BUILDERS.items():
            candidates = list(build(plan, items))
            if not candidates:
                continue
            put_back(session, untouched)
            with self.row(f"edited: {name}") as row:
                edited, edit = self._edited(session, flags, candidates)
                row.problems += fulfilled(edit, edited)
                self._commit(row, session, [*flags, "--edit", str(self.edit_file)], edited)
                self.resume(row, session, edited["after"]["items"])

    def has_room_after(self, window: int) -> None:
        """At this window the client compacts at once before the commit, and not after it."""
        with self.row(f"no compaction at {window:,} after") as row:
            untouched = self.placed("room-before")
            if self.client.resume(untouched, window=window).before == 0:
                row.problems.append("the client does not compact by itself before the commit either")
            session = self.placed("room")
            self._commit(row, session, ["--window", str(window)])
            resumed = self.client.resume(session, window=window)
            if resumed.error or resumed.before:
                row.problems.append(resumed.error or f"the client sent {resumed.before} requests before its first turn")

    def by_hand(self) -> None:
        """A short session, cut by hand: some of it summarised; some dropped and shortened; at least one of both."""
        session = self.placed("by-hand")
        untouched = saved(session, self.folder / "untouched")
        refused: list[str] = []
        for name, build in BY_HAND.items():
            put_back(session, untouched)
            before = state_of(session)
            try:
                candidates = list(build(self.seamline.plan(session), self.seamline.view(session)))
                edited, edit = self._edited(session, [], candidates)
            except CommandFailed as error:
                refused.append(str(error))
                continue
            with self.row(f"by hand: {name}") as row:
                if edited["commits_as"] == "none":
                    self._refuses(row, session, edited)
                    continue
                row.problems += fulfilled(edit, edited)
                self._commit(row, session, ["--edit", str(self.edit_file)], edited)
                self.resume(row, self._copied(session, name.replace(" ", "-")), edited["after"]["items"])
                said = self.seamline.undo(session)
                if said.status or state_of(session) != before:
                    row.problems.append(f"undo: exit {said.status}: {said.error}")
        if len(refused) == len(BY_HAND):
            with self.row("by hand") as row:
                resumed = self.client.resume(session)
                row.notes.append(f"nothing to do by hand: {refused[-1]}")
                if not resumed.error and resumed.items:
                    row.problems.append("nothing can be done by hand, but the client resumes")

    def _refuses(self, row: Row, session: Path, plan: Mapping[str, Any]) -> None:
        """What the plan says can't be committed is not, and leaves no trace."""
        row.notes.append(f"refused: {plan['why']}"[:300])
        before = state_of(session)
        said = self.seamline.try_compact(session, ["--edit", str(self.edit_file)])
        if not said.status or state_of(session) != before:
            row.problems.append("a commit that the plan refuses was carried out")

    def forks(self) -> None:
        """A new session beside the old one, which stays as it is."""
        self.fork(self.placed("as-fork"), "as fork")

    def fork(
        self, session: Path, name: str, first: Callable[[Row, Sequence[str]], None] = lambda row, flags: None
    ) -> None:
        """A fork that the client lists and resumes. `first` is done before, given the row and the options."""
        before = state_of(session)
        with self.row(f"{name}, resume") as row:
            flags, plan = self.acting(session)
            first(row, flags)
            made = self.seamline.compact(session, [*flags, "--as", "fork"])
            row.planned({**plan, "commits_as": "fork"})
            if state_of(session) != before:
                row.problems.append("the original was changed")
            self.compare(row, "the fork", plan["after"]["items"], self.seamline.view(made))
            if self.client.lists(made) is False:
                row.problems.append(f"{self.client.agent} does not list the fork")
            self.resume(row, made, plan["after"]["items"])
            if made == session or state_of(session) != before:
                row.problems.append("the original was changed")

    def is_seen(self) -> None:
        """No commit: the view of the session as it is; what Seamline says that the client refuses, it refuses."""
        with self.row("resume as it is") as row:
            session = self.placed("as-it-is")
            said = self.seamline.run("view", session)
            if said.status:
                resumed = self.client.resume(session)
                row.notes.append(f"refused: {said.error}")
                if not resumed.error:
                    row.problems.append("the client resumes")
            else:
                self.resume(row, session, said.json["items"])

    # How

    def placed(self, name: str) -> Path:
        return self.client.place(self.source, self.folder / name)

    def _copied(self, session: Path, name: str) -> Path:
        return self.client.place(session, self.folder / name)

    @contextmanager
    def row(self, what: str) -> Iterator[Row]:
        row = Row(f"{self.client.agent} {self.client.version}", self.subject.name, what)
        try:
            yield row
        except CommandFailed as error:
            row.problems.append(str(error))
        self.report(row)

    def acting(self, session: Path) -> tuple[list[str], dict[str, Any]]:
        """Options with which the policy acts, and its plan: none where it acts by itself, else a window or a target."""
        plan = self.seamline.plan(session)
        if _acts(plan):
            return [], plan
        tokens = plan["before"]["tokens"]["value"]
        for flags in (["--window", str(int(tokens * TIGHT))], ["--target", str(int(tokens * 0.6))]):
            plan = self.seamline.plan(session, flags)
            if _acts(plan, asked="--target" in flags):
                return flags, plan
        failed = [f"{check['id']}: {check['message']}" for check in plan["checks"] if not check["ok"]]
        raise CommandFailed(f"no commit can be planned: {plan['why'] or failed or 'nothing would change'}")

    def _commit(
        self, row: Row, session: Path, flags: Sequence[str] = (), plan: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Commit what was planned; what `seamline view` shows then is what was approved."""
        if plan is None:
            flags, plan = (flags, self.seamline.plan(session, flags)) if flags else self.acting(session)
        row.planned(plan)
        self.seamline.compact(session, flags)
        self.compare(row, "seamline view", plan["after"]["items"], self.seamline.view(session))
        return plan

    def resume(self, row: Row, session: Path, shown: Items, more: Turns = ((), ())) -> Path:
        """The real client resumes from what `seamline view` shows, and goes on with `more` prompts and replies.

        Returns the session to go on with: a client may unpack or move it.
        """
        before = size_of(session)
        resumed = self.client.resume(session, (PROMPT, *more[0]), (OK, *more[1]))
        session = resumed.session or session
        if resumed.error:
            row.problems.append(f"{self.client.agent}: {resumed.error}")
            return session
        if resumed.before:
            row.problems.append(f"{self.client.agent} sent {resumed.before} requests before our prompt")
        self.compare(row, "seamline view", resumed.items, shown, whose=self.client.agent)
        if size_of(session) <= before:
            row.problems.append(f"{self.client.agent} did not go on in this file")
        return session

    def _native(self, row: Row, session: Path, plan: dict[str, Any], full: Items) -> None:
        """The client's own compaction is asked for what is in the view, and for nothing that our commit took away."""
        before = self.seamline.view(session)
        compacted = self.client.compact(session, NATIVE_SUMMARY, NATIVE_KEEP)
        if compacted.error:
            row.problems.append(f"{self.client.agent} can't compact on top: {compacted.error}")
            return
        asked, after = compacted.asked, self.seamline.view(session)
        if not any(NATIVE_SUMMARY in item.get("text", "") for item in after):
            row.problems.append("its summary is not in the view")
        summary = (plan["summary"] or {}).get("text", "").strip()
        if summary not in asked and compacted.forgets:
            row.notes.append(compacted.forgets)
        elif summary not in asked:
            row.problems.append("the request for its summary lacks ours")
        stands = asked + "".join(item.get("text", "") for item in after)
        lost = [text for text in beginnings(before, "user") if text not in stands]
        row.problems += [f"neither in its request nor in the view: {text!r}" for text in lost]
        visible = "".join(item.get("text", "") for item in before)
        gone = [text for text in beginnings(full, "user", "tool") if text not in visible]
        row.problems += [f"its summary is made from what went: {text!r}" for text in gone if text in asked]

    def _undo_is_refused(self, row: Row, session: Path) -> None:
        """The client has written since: taking the commit back would lose that."""
        before = state_of(session)
        said = self.seamline.undo(session)
        if said.status != 1 or not said.error or state_of(session) != before:
            row.problems.append(f"undo after the client wrote: exit {said.status}: {said.error}")

    def _edited(self, session: Path, flags: Sequence[str], candidates: Sequence[Edit]) -> tuple[dict[str, Any], Edit]:
        """The plan with the first candidate of this edit that is allowed."""
        path = self.edit_file
        said = "there is none"
        for edit in candidates:
            path.write_text(json.dumps(edit.file))
            answer = self.seamline.try_plan(session, [*flags, "--edit", str(path)])
            failed = [
                f"{check['id']}: {check['message']}" for check in answer.json.get("checks", []) if not check["ok"]
            ]
            if answer.status == 0 and not failed:
                return answer.json, edit
            said = answer.error or failed[0]
        raise CommandFailed(f"no candidate for this edit is allowed: {said}")

    def compare(self, row: Row, name: str, expected: Items, got: Items, whose: str = "approved") -> None:
        row.problems += [f"{name}: {line}" for line in differences(expected, got, (whose, name))]


def _acts(plan: dict[str, Any], asked: bool = False) -> bool:
    return bool(plan["dispositions"]) and (asked or plan["would_act"]) and all(check["ok"] for check in plan["checks"])


def beginnings(items: Items, *roles: str) -> list[str]:
    """How the texts of these roles begin: long enough not to be found by chance, short enough not to be cut."""
    ours = (item for item in items if item["role"] in roles and item.get("mark") != "summary")
    texts = (item.get("text", "").strip() for item in ours)
    return [text[:CLEARLY] for text in texts if len(text) >= CLEARLY]


def remove(folder: Path) -> None:
    """Take a trial's folder away."""
    shutil.rmtree(folder, ignore_errors=True)
