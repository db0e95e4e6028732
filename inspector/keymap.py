"""All keys of all screens in one table: bindings, footer, help screen and command palette come from it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One command: its keys, the action, and its words."""

    keys: str
    """Comma-separated, as Textual names them."""
    action: str
    words: str
    """A verb and its object; the palette shows `area: words`."""
    help: str = ""
    footer: str = ""
    """Its word in the footer; empty where it does not stand there."""
    shown_as: str = ""
    """How the keys are written for people, where the names would not do."""

    @property
    def display(self) -> str:
        return self.shown_as or " ".join(self.keys.split(","))


APP = (
    Key("question_mark", "help", "Show all keys", "Every key of this screen, and what the signs mean.", "Keys", "?"),
    Key("ctrl+t", "toggle_look", "Switch between dark and light"),
    Key("q", "quit", "Quit Seamline", "Nothing is written that was not approved.", "Quit"),
)

CHOOSER = (
    Key("enter", "open", "Open the selected session", footer="Open", shown_as="enter"),
    Key("r", "reload", "Look for sessions again", footer="Reload"),
)

TIMELINE = (
    Key("enter", "detail", "Read the selected item in full", "Esc goes back to the list.", "Detail", "enter"),
    Key(
        "v",
        "review",
        "Review a proposed cut",
        "Proposes what to keep, shorten and summarise; writes nothing.",
        "Review",
    ),
    Key("[,left_square_bracket", "turn(-1)", "Go to previous turn", shown_as="["),
    Key("],right_square_bracket", "turn(1)", "Go to next turn", footer="Turn", shown_as="]"),
    Key("b", "biggest", "Go to the biggest item", "Again: to the next one in size.", "Biggest"),
    Key("space", "fold", "Fold or unfold this turn"),
    Key("z", "fold_all", "Fold or unfold all turns"),
    Key("p", "pair", "Go to the other half of the pair", "From a call to its result, and back."),
    Key("e", "error", "Go to the next error"),
    Key("h", "past", "Show what the model no longer sees", "Unfolds the history before the last compaction."),
    Key("r", "raw", "Show the stored record", "The selected item's record as it stands in the file."),
    Key("U", "undo", "Undo the last commit", "Gives the file its old bytes back, or says why not."),
    Key("escape", "back", "Go back", shown_as="esc"),
)

LIST = (
    Key("up,down", "", "Move by one row", shown_as="↑ ↓"),
    Key("pageup,pagedown", "", "Move by a screen", shown_as="pgup pgdn"),
    Key("home,end", "", "Go to the first or last row", shown_as="home end"),
    Key("tab", "", "Go to the next pane"),
    Key("ctrl+p", "", "Open the command palette"),
)
"""Keys that the list itself handles: for the help screen only."""


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """The table as Textual's bindings."""
    return [
        Binding(
            key.keys,
            key.action,
            key.footer or key.words,
            show=bool(key.footer),
            key_display=key.shown_as or None,
        )
        for key in keys
    ]
