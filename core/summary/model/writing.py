"""A summary by a model: asked, asked again where that can help, judged, and joined with what the program keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.errors import SeamlineError
from core.policies.policy import Way
from core.proposal import Summary
from core.summary.document import Row, Section, read_document
from core.summary.model.asking import WRITTEN, Asked, Room, requests
from core.summary.model.calling import Answer, Caller, CallFailed
from core.summary.offline import TextCounter
from core.summary.rows import to_sections
from core.summary.shortening import shorten
from core.summary.state import Facts, to_state
from core.summary.template import Language, template
from core.view import Seen

LEAST = 200
"""Characters below which an answer is no document."""

BOTH = frozenset({"done", "attempts", "todo"})
"""Sections in which the program's own rows stand before the model's: plan steps, what ran, what failed."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How a policy meets temporary failures: tries in all, and seconds before the second one, doubled each time."""

    tries: int = 3
    wait: float = 2.0
    longest: float = 60.0

    def before(self, attempt: int) -> float:
        """Seconds to wait before the attempt with this number, from 2 on."""
        return min(self.longest, self.wait * 2 ** (attempt - 2))


class SummaryFailed(SeamlineError):
    """No usable summary came; nothing was changed. The message says why and what can be done."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the writing stands, for a person who waits."""

    words: str
    text: str = ""
    """What of the answer has come so far."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that the writing of one summary needs beside a caller."""

    seen: Sequence[Seen]
    facts: Facts
    language: Language
    counter: TextCounter
    room: Room
    budget: int
    """Tokens of the finished document."""
    focus: str = ""
    way: Way = "ladder"
    result_characters: int | None = None
    retries: Retries = Retries()


def write_with_model(
    task: Task, caller: Caller, sleep: Callable[[float], None], progress: Callable[[Progress], None] = lambda _: None
) -> Summary:
    """The model's summary with the program's facts. Raises SummaryFailed, Stopped."""
    asked: Asked | None = None
    for asked in requests(
        task.seen,
        task.facts,
        task.language,
        task.room,
        task.counter.text,
        task.focus,
        task.way,
        task.result_characters,
    ):
        try:
            answer = _answered(asked, task.retries, caller, sleep, progress)
        except CallFailed as failed:
            if failed.trouble != "too_long":
                raise SummaryFailed(f"{caller.name}: {failed}") from failed
            progress(Progress(f"{caller.name} finds that too long: asking with less"))
            continue
        return composed(task, answer.text, caller.name)
    if asked is None:
        raise SummaryFailed(
            f"{caller.name}: its window of {task.room.window or 0:,} tokens has no room for this conversation: "
            "take another model, or the offline summary"
        )
    raise SummaryFailed(f"{caller.name}: even {asked.holds} is too long for it: summarise less, or offline")


def _answered(
    asked: Asked, retries: Retries, caller: Caller, sleep: Callable[[float], None], progress: Callable[[Progress], None]
) -> Answer:
    """An answer that can be used. A fault that would come again in the same way is not tried again."""
    trouble = ""
    for attempt in range(1, retries.tries + 1):
        if attempt > 1:
            wait = retries.before(attempt)
            progress(Progress(f"{trouble}: trying again in {wait:.0f} s ({attempt} of {retries.tries})"))
            sleep(wait)
        progress(Progress(f"{caller.name} reads {asked.holds}: {asked.tokens:,} tokens"))
        heard: list[str] = []

        def hear(piece: str, heard: list[str] = heard) -> None:
            heard.append(piece)
            progress(Progress(f"{caller.name} writes", "".join(heard)))

        try:
            answer = caller.complete(asked.call, hear)
        except CallFailed as failed:
            if failed.trouble != "temporary":
                raise
            trouble = str(failed)
            continue
        trouble = fault_of(answer)
        if not trouble:
            return answer
        if answer.finish == "length":
            break
    raise SummaryFailed(f"{caller.name}: {trouble}")


def fault_of(answer: Answer) -> str:
    """Why an answer is no document; empty where it is one."""
    if answer.finish == "length":
        return "the summary was cut off at the output limit: allow it more, or summarise less"
    if answer.finish == "tool_call":
        return "it called a tool instead of writing"
    text = answer.text.strip()
    if not text:
        return "it wrote nothing"
    if _sections(text) is None:
        return "it went on with the task, or wrote without the headings"
    if len(text) < LEAST:
        return f"it wrote only {len(text)} characters"
    return ""


def _sections(text: str) -> tuple[Language, tuple[Section, ...]] | None:
    """The sections of the answer; the title may be missing, at least half of the headings may not."""
    for title in ("", *(f"# {template(language).title}\n\n" for language in ("en", "zh"))):
        read = read_document(title + text)
        if read is not None and len({section.name for section in read[1]} & set(WRITTEN)) * 2 >= len(WRITTEN):
            return read
    return None


def composed(task: Task, text: str, writer: str) -> Summary:
    """The document: the model's sections where it may write, the program's everywhere else."""
    read = _sections(text)
    if read is None:
        raise SummaryFailed(f"{writer}: the answer has none of the headings")
    written: dict[str, tuple[Row, ...]] = {}
    for section in read[1]:
        if section.name in WRITTEN:
            written[section.name] = (*written.get(section.name, ()), *map(_plain, section.rows))
    sections = tuple(_joined(section, written.get(section.name, ())) for section in to_sections(task.facts))
    document = shorten(template(task.language), sections, task.counter.text, task.budget, task.focus)
    return Summary(writer, document, to_state(task.facts, task.language))


def _joined(section: Section, written: tuple[Row, ...]) -> Section:
    if section.name not in WRITTEN or not written:
        return section
    if section.name not in BOTH:
        return replace(section, rows=written)
    known = {" ".join(row.text.split()) for row in section.rows}
    own = section.rows if section.name == "attempts" else tuple(row for row in section.rows if row.label)
    return replace(section, rows=(*own, *(row for row in written if " ".join(row.text.split()) not in known)))


def _plain(row: Row) -> Row:
    """A model's line is never taken for a quote of the session."""
    return replace(row, style="plain", children=tuple(map(_plain, row.children)))
