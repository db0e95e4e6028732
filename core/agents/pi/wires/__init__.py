"""How pi writes its messages for each kind of provider: one module a wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from core.agents.pi.client import Client
from core.agents.pi.messages import Message, Target
from core.agents.pi.repair import Rename
from core.agents.pi.wires import anthropic, completions, responses
from core.view import Item

Write = Callable[[Sequence[Message], Client, Target], Iterator[Item]]


class Wire(NamedTuple):
    """One wire: how it renames the calls of other models, and how it writes messages as items."""

    rename: Callable[[Client], Rename]
    items: Write


WIRES = {
    "anthropic-messages": Wire(anthropic.rename, anthropic.items),
    "openai-completions": Wire(completions.rename, completions.items),
    "openai-responses": Wire(responses.rename, responses.items),
}
