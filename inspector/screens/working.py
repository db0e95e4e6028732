"""Screens with slow work in threads: how a thread hands over what it has found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from textual.screen import Screen

Result = TypeVar("Result")


class WorkingScreen(Screen[Result]):
    """A thread never waits for the screen, and what it brings after the screen has gone is let go."""

    def hand_over(self, callback: Callable[..., object], *given: Any) -> None:
        """Call `callback(*given)` on the screen's own thread; to be used from a worker's."""
        if not self.app._exit:
            self.call_later(self._bring, callback, given)

    def _bring(self, callback: Callable[..., object], given: tuple[Any, ...]) -> None:
        if self in self.app.screen_stack:
            callback(*given)
