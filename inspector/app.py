"""The inspector: composes the screens and routes between them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider

from core.opening import Opened
from core.resume import Overrides
from inspector import themes
from inspector.keymap import APP, bindings
from inspector.messages import OpenSession
from inspector.palette import Commands
from inspector.screens.chooser import ChooserScreen
from inspector.screens.help import HelpScreen
from inspector.screens.leave import LeaveScreen
from inspector.screens.opening import OpeningScreen
from inspector.screens.review import ReviewScreen
from inspector.screens.timeline import TimelineScreen


class Inspector(App[int]):
    """Opens `path` (a session file or a folder), or offers the sessions of this machine."""

    TITLE = "Seamline"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    BINDINGS: ClassVar[list[BindingType]] = bindings(APP)
    COMMANDS: ClassVar[set[type[Provider]]] = {Commands}  # type: ignore[assignment]
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [(0, "-short"), (30, "-tall")]

    def __init__(self, path: Path | None, overrides: Overrides | None = None, theme: str = themes.DARK.name) -> None:
        super().__init__()
        self.path = path
        self.overrides = overrides or Overrides()
        for look in themes.THEMES:
            self.register_theme(look)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme.dark)

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Go to the first screen."""
        if self.path is not None and not self.path.is_dir():
            self.open_session(self.path)
        else:
            self.push_screen(ChooserScreen(self.path))

    @on(OpenSession)
    async def _chosen(self, chosen: OpenSession) -> None:
        if chosen.instead is not None:
            await chosen.instead.dismiss(None)
        self.open_session(chosen.path, chosen.leaf)

    def open_session(self, path: Path, leaf: str | None = None) -> None:
        """Show one session, once it is read."""
        self.push_screen(OpeningScreen(path, self.overrides, leaf), partial(self._opened, leaf))

    def _opened(self, leaf: str | None, opened: Opened | None) -> None:
        if opened is not None:
            self.push_screen(TimelineScreen(opened, leaf))
        elif len(self.screen_stack) <= 1:
            self.exit(1)

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    async def action_quit(self) -> None:
        """Leave the program; asks where edits of a review would be lost."""
        edits = sum(screen.edits for screen in self.screen_stack if isinstance(screen, ReviewScreen))
        if not edits:
            self.exit()
        elif not isinstance(self.screen, LeaveScreen):
            self.push_screen(LeaveScreen(edits), self._quit_for_good)

    def _quit_for_good(self, leave: bool | None) -> None:
        if leave:
            self.exit()

    def action_toggle_look(self) -> None:
        self.theme = (themes.LIGHT if self.current_theme.dark else themes.DARK).name


def run(path: Path | None, overrides: Overrides | None = None) -> int:
    """Show the inspector until it is left; the exit code of the command."""
    return Inspector(path, overrides).run() or 0
