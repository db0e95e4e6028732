"""The writer of summaries that a plan takes, where a model is to write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.opening import Opened
from core.planning import Writer
from core.policies import policy_named
from core.policies.policy import Policy
from core.policies.settings import Settings
from core.proposal import Summary
from core.summary.facts import collect
from core.summary.history import USED
from core.summary.model.asking import Room
from core.summary.model.calling import Caller
from core.summary.model.writing import Progress, Retries, Task, write_with_model
from core.summary.template import language_of
from core.view import Item, Seen


def by_model(
    policy: str,
    caller: Caller,
    window: int | None,
    sleep: Callable[[float], None],
    progress: Callable[[Progress], None] = lambda _: None,
) -> Writer:
    """A writer that asks a model, by the policy's rules for input and retries.

    `window`: of the model that writes, in tokens; None where it is unknown. The writer raises SummaryFailed, Stopped.
    """

    def write(opened: Opened, seen: Sequence[Seen], beside: Sequence[Item], settings: Settings) -> Summary:
        rules = policy_named(policy, settings.policies)
        budget = rules.summary_room(opened, settings)
        facts = collect(seen, beside, opened.agent.profile, order=[entry.id for entry in opened.session.entries])
        language = language_of([*(one.item for one in seen if one.sight in USED), *beside])
        task = Task(
            seen=[one for one in seen if one.sight == "visible"],
            facts=facts,
            language=language,
            counter=opened.counter,
            room=Room(window, budget),
            budget=budget,
            focus=settings.focus,
            way=rules.input,
            result_characters=rules.result_characters,
            retries=_retries(rules),
        )
        return write_with_model(task, caller, sleep, progress)

    return write


def _retries(policy: Policy) -> Retries:
    figures = policy.figures
    return Retries(figures.tokens("tries"), figures.share("wait_seconds"))
