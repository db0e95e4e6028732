"""What the tools did, from calls and results: files read and changed, commands with exit codes, errors, the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, cast

from core.agents.protocol import Profile, Tool, ToolKind
from core.calls import patch_text
from core.patches import patched
from core.summary.history import Part, clean
from core.summary.logs import failure_blocks, tells_test
from core.summary.plans import plan_of
from core.summary.shell import changed_paths, is_milestone, is_search, is_test, same_run, tells_red
from core.summary.state import Command, Failure, FileChange, FileRead, How, Plan
from core.tokens.counting import compact_json, well_formed
from core.view import pair_up

LONGEST_COMMAND = 240
"""Characters of a command."""

PLACE = 90
"""Characters of a changed line, old or new."""

COMPARED = 200
"""Lines of an edit that are compared to find it."""

PLACES = 4
"""How many places of a file are carried: the newest ones."""

PASSED_TESTS = 3
"""How many test runs that passed are carried as done: the newest ones."""

FAILURES = 2
"""How many unresolved errors are carried that came after the last failed test."""

ACTING: frozenset[ToolKind] = frozenset({"shell", "edit", "write", "other"})
"""Kinds of tools that do something, rather than look."""

_EXIT = re.compile(
    r"(?:^|\n)\s*(?:(?:Command|Process) exited with (?:exit )?code|Exit code:?|exit status) (-?\d+)", re.IGNORECASE
)
_SHELL = re.compile(r"Ran `(.*?)`\n(.*)", re.DOTALL)
_TAIL = 2_000
"""Characters of a result's end in which the exit code is looked for."""


@dataclass(frozen=True, slots=True)
class Run:
    """A call with its result: what was asked of which tool, and what came of it."""

    position: int
    entry: str
    result_entry: str
    tool: Tool
    arguments: Mapping[str, Any]
    result: str
    answered: bool
    failed: bool
    exit: int | None
    kept: bool

    @property
    def kind(self) -> ToolKind:
        return self.tool.kind

    @property
    def command(self) -> str:
        return str(self.arguments.get(self.tool.command or "command") or "")


@dataclass(slots=True)
class Work:
    """The tools' side of the session, the newest last; files by their path, commands by their text."""

    plan: Plan | None = None
    milestones: list[Command] = field(default_factory=list[Command])
    changes: dict[str, FileChange] = field(default_factory=dict[str, FileChange])
    reads: dict[str, FileRead] = field(default_factory=dict[str, FileRead])
    commands: dict[str, Command] = field(default_factory=dict[str, Command])
    failures: list[Failure] = field(default_factory=list[Failure])


def runs(parts: Sequence[Part], profile: Profile) -> list[Run]:
    """Every call with its result, in order; the user's own shell commands too; a copied call once."""
    found: dict[tuple[str, str, str], Run] = {}
    pairing = pair_up(part.item for part in parts)
    result_of = dict(pairing.pairs)
    for position, part in enumerate(parts):
        item = part.item
        if item.mark == "shell":
            run = _user_run(part)
            key = ("shell", part.entry, "")
        elif item.kind == "tool_call":
            answer = result_of.get(position)
            run = _run(part, parts[answer] if answer is not None else None, profile)
            key = (item.call_id, item.name, str(item.arguments) if item.call_id else part.entry)
        else:
            continue
        found.pop(key, None)
        found[key] = run
    return list(found.values())


def _run(part: Part, answer: Part | None, profile: Profile) -> Run:
    tool = profile.tool(part.item.name)
    arguments = _arguments(part.item.arguments)
    result = answer.item.text if answer is not None else ""
    failed = answer is not None and answer.item.is_error
    code = _exit_code(result) if tool.kind == "shell" and answer is not None else None
    if tool.kind == "shell" and answer is not None and not failed and code is None:
        code = 0
    entry = answer.entry if answer is not None else part.entry
    failed = failed or bool(code)
    return Run(part.position, part.entry, entry, tool, arguments, result, answer is not None, failed, code, part.kept)


def _user_run(part: Part) -> Run:
    match = _SHELL.match(part.item.text)
    command, output = (match[1], match[2]) if match else ("", part.item.text)
    code = None if "(command cancelled)" in output[-_TAIL:] else _exit_code(output) or 0
    tool = Tool("shell", "shell", command="command")
    arguments = {"command": command}
    return Run(part.position, part.entry, part.entry, tool, arguments, output, True, code != 0, code, part.kept)


def _arguments(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        return {"input": arguments}
    return cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}


def _exit_code(text: str) -> int | None:
    codes = _EXIT.findall(text[-_TAIL:]) or _EXIT.findall(text[:_TAIL])
    return int(codes[-1]) if codes else None


def work(all_runs: Sequence[Run]) -> Work:
    """Files, commands, errors and plan. Changed files, the last failed test and the plan count where kept, too."""
    done = Work(changes=changes_of(all_runs))
    for run in all_runs:
        if run.kind == "plan" and not run.failed:
            done.plan = plan_of(run.arguments, run.result, run.entry) or done.plan
        if run.kind == "read" and not run.failed and not run.kept:
            _note_read(done.reads, run)
        elif run.kind in {"shell", "other", "agent", "web", "skill"} and not run.kept:
            _note_command(done.commands, run)
    done.milestones = _milestones(all_runs)
    for one in done.milestones:
        if one.command in done.commands and done.commands[one.command].entry == one.entry:
            del done.commands[one.command]
    done.failures = _failures(all_runs)
    return done


def changes_of(all_runs: Sequence[Run], dropped: Set[str] = frozenset()) -> dict[str, FileChange]:
    """The changed files by their path, the newest last; of runs of `dropped` entries without the changed lines."""
    changes: dict[str, FileChange] = {}
    for run in all_runs:
        if run.failed:
            continue
        if run.kind in {"edit", "write"}:
            _note_change(changes, run, bool(dropped & {run.entry, run.result_entry}))
        elif run.kind == "shell":
            for path, how in changed_paths(run.command):
                _add_change(changes, FileChange(path, run.result_entry, how))
    return changes


def _path(run: Run) -> str:
    return clean(str(run.arguments.get(run.tool.path or "path") or ""))


def _note_read(reads: dict[str, FileRead], run: Run) -> None:
    path = _path(run)
    if not path or not run.answered:
        return
    lines = _lines(run.arguments)
    before = reads.pop(path, None)
    if before is not None:
        spans = dict.fromkeys([*before.lines.split(", "), lines])
        lines = "" if "" in spans else ", ".join(spans)
    reads[path] = FileRead(path, run.result_entry, lines, before.times + 1 if before else 1)


def _lines(arguments: Mapping[str, Any]) -> str:
    """The lines asked for, such as `1-80` or `40-`; empty for the whole file."""
    first = arguments.get("offset") or arguments.get("start_line")
    count, last = arguments.get("limit"), arguments.get("end_line")
    start = first if isinstance(first, int) else 1
    if isinstance(last, int):
        return f"{start}-{last}"
    if isinstance(count, int):
        return f"{start}-{start + count - 1}"
    return f"{start}-" if start > 1 else ""


def _note_change(changes: dict[str, FileChange], run: Run, dropped: bool) -> None:
    path = _path(run)
    if path:
        how: How = "written" if run.kind == "write" else "edited"
        places = tuple(_places(run.arguments)) if how == "edited" and not dropped else ()
        count = max(1, len(_edits(run.arguments))) if how == "edited" else 1
        _add_change(changes, FileChange(path, run.result_entry, how, count, places))
        return
    for file in patched(patch_text(run.arguments)):
        edit = {"old": "\n".join(file.old), "new": "\n".join(file.new)}
        places = tuple(_places(edit)) if file.how == "edited" and not dropped else ()
        _add_change(changes, FileChange(clean(file.path), run.result_entry, file.how, 1, places))


def _add_change(changes: dict[str, FileChange], change: FileChange) -> None:
    before = changes.pop(change.path, None)
    if before is not None:
        places = tuple(dict.fromkeys((*before.places, *change.places)))[-PLACES:]
        how: How = "written" if before.how == "written" and change.how == "edited" else change.how
        change = FileChange(change.path, change.entry, how, before.times + change.times, places)
    changes[change.path] = change


_OLD = ("oldText", "old_string", "old_str", "old")
_NEW = ("newText", "new_string", "new_str", "new")


def _edits(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = arguments.get("edits")
    if isinstance(listed, list):
        return [_arguments(edit) for edit in cast("list[Any]", listed)]
    return [arguments] if any(name in arguments for name in _OLD) else []


def _places(arguments: Mapping[str, Any]) -> Iterator[str]:
    """For each edit the first line that it changes: `old → new`, `+ new` or `- old`."""
    for edit in _edits(arguments):
        old = next((str(edit[name]) for name in _OLD if edit.get(name)), "").split("\n")[:COMPARED]
        new = next((str(edit[name]) for name in _NEW if edit.get(name)), "").split("\n")[:COMPARED]
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            before = next((line.strip() for line in old[a:b] if line.strip()), "")
            after = next((line.strip() for line in new[c:d] if line.strip()), "")
            if tag != "equal" and (before or after):
                place = f"{_short(before)} → {_short(after)}" if before and after else f"+ {_short(after)}"
                yield clean((place if after else f"- {_short(before)}").replace("\r", " "))
                break


def _short(line: str) -> str:
    return line if len(line) <= PLACE else line[:PLACE].rstrip() + "…"


def _note_command(commands: dict[str, Command], run: Run) -> None:
    text = run.command if run.kind == "shell" else _call(run)
    made = _command(text, run)
    if made is None:
        return
    before = commands.pop(made.command, None)
    if before is not None:
        made = replace(made, times=before.times + 1)
    commands[made.command] = made


def _call(run: Run) -> str:
    return f"{run.tool.name} {well_formed(compact_json(dict(run.arguments)))}"


def _command(text: str, run: Run) -> Command | None:
    whole = clean(text)
    line = whole.split("\n", 1)[0].rstrip()[:LONGEST_COMMAND].rstrip()
    if not line:
        return None
    return Command(line, run.result_entry, run.exit, run.failed, shortened=line != whole)


def _milestones(all_runs: Sequence[Run]) -> list[Command]:
    """Commits and pushes that went through, and the last test runs that passed; none that failed when run anew."""
    found: dict[str, Command] = {}
    newest_run = {same_run(run.command): run for run in all_runs if run.kind == "shell" and run.answered}
    undone = {command for command, run in newest_run.items() if _fell(run)}
    passed = [
        run
        for run in all_runs
        if not run.kept and run.kind == "shell" and run.exit == 0 and same_run(run.command) not in undone
    ]
    tests = {run.command: run.position for run in passed if is_test(run.command)}
    newest = set(sorted(tests.values())[-PASSED_TESTS:])
    for run in passed:
        if (run.position in newest or is_milestone(run.command)) and (made := _command(run.command, run)) is not None:
            found[f"{made.command}\n{run.result_entry}"] = made
    return list(found.values())


def _fell(run: Run) -> bool:
    """Whether it failed, by its own word, its exit code, or the count at the end of a test run behind a pipe."""
    return run.failed or (run.kind == "shell" and is_test(run.command) and tells_red(run.result))


def _failures(all_runs: Sequence[Run]) -> list[Failure]:
    """The last failed test run, then what failed after it and was not put right, newest first."""
    passed = {_aim(run): run for run in all_runs if run.answered and not _fell(run)}
    failed = [run for run in all_runs if _fell(run) and _tells(run)]
    tests = [run for run in failed if run.kind == "shell" and is_test(run.command)]
    telling = [run for run in tests if tells_test(run.result)]
    chosen = (telling or tests)[-1:]
    limit, since = FAILURES + len(chosen), chosen[0].position if chosen else -1
    for run in reversed(failed):
        if len(chosen) == limit or run.position <= since:
            break
        if not run.kept and not _passed(run, passed) and not any(_alike(run, other) for other in chosen):
            chosen.append(run)
    return [
        Failure(blocks, run.result_entry, action_of(run), _passed(run, passed))
        for run in chosen
        if (blocks := failure_blocks(run.result))
    ]


def action_of(run: Run) -> str:
    """What the call did, in one line: the command, or the tool and its path."""
    made = _command(run.command if run.kind == "shell" else f"{run.tool.name} {_path(run)}", run)
    return made.command if made is not None else run.tool.name


def _tells(run: Run) -> bool:
    return bool(run.result.strip()) and not (run.kind == "shell" and run.exit == 1 and is_search(run.command))


def _alike(run: Run, other: Run) -> bool:
    if run.kind == "shell" and other.kind == "shell" and is_test(run.command) and is_test(other.command):
        return True
    return _aim(run) == _aim(other)


def _aim(run: Run) -> tuple[str, str]:
    """What a second run must have in common with the first to be the same thing done again."""
    return run.tool.name, same_run(run.command) if run.kind == "shell" else _path(run) or _call(run)


def _passed(run: Run, passed: Mapping[tuple[str, str], Run]) -> str:
    """The entry in which the same was done later without an error; empty where it was not."""
    later = passed.get(_aim(run))
    return later.result_entry if later is not None and later.position > run.position else ""
