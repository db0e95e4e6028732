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
    footer_key: str = ""
    """How the key is written in the footer, where that is less than all of `shown_as`."""
    together: str = ""
    """A word in the footer that this key shares with its neighbours of the same word."""

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
    Key(
        "slash",
        "filter",
        "Filter by what is typed",
        "Words of the agent, the project, the title or the path; enter opens, esc shows all again.",
        "Filter",
        "/",
    ),
    Key("s", "sort", "Sort by the next column", "Activity, tokens, share of the threshold, size, project.", "Sort"),
    Key("r", "reload", "Look for sessions again", footer="Reload"),
    Key("escape", "clear", "Show all sessions again", shown_as="esc"),
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
    Key("[,left_square_bracket", "turn(-1)", "Go to previous turn", shown_as="[", together="Turn"),
    Key("],right_square_bracket", "turn(1)", "Go to next turn", shown_as="]", together="Turn"),
    Key("b", "biggest", "Go to the biggest item", "Again: to the next one in size.", "Biggest"),
    Key("space", "fold", "Fold or unfold this turn"),
    Key("z", "fold_all", "Fold or unfold all turns"),
    Key("p", "pair", "Go to the other half of the pair", "From a call to its result, and back."),
    Key("e", "error", "Go to the next error"),
    Key("h", "past", "Show what the model no longer sees", "Unfolds the history before the last compaction."),
    Key("o", "elsewhere", "Open another leaf or a child", "Branches, turns taken back, sub-agents and forks."),
    Key("r", "raw", "Show the stored record", "The selected item's record as it stands in the file."),
    Key("U", "undo", "Undo the last commit", "Gives the file its old bytes back, or says why not."),
    Key("escape", "back", "Go back", shown_as="esc"),
)

REVIEW = (
    Key("k", "set('keep')", "Keep the selected unit or result", together="Decide"),
    Key(
        "l", "set('limit')", "Limit the selected result", "Its head and tail stay, and what failed.", together="Decide"
    ),
    Key(
        "p",
        "set('point')",
        "Point to the selected result",
        "One line says what it was and how to get it again.",
        together="Decide",
    ),
    Key("s", "set('summarize')", "Summarise the selected unit", together="Decide"),
    Key("d", "set('drop')", "Drop the selected unit", together="Decide"),
    Key(
        "less_than_sign,ctrl+up",
        "cut(-1)",
        "Move the cut to the previous legal place",
        shown_as="< ctrl+↑",
        footer_key="<",
        together="Cut",
    ),
    Key(
        "greater_than_sign,ctrl+down",
        "cut(1)",
        "Move the cut to the next legal place",
        shown_as="> ctrl+↓",
        footer_key=">",
        together="Cut",
    ),
    Key("x", "cut_here", "Cut before the selected row", "Refused with the reason where no cut may stand."),
    Key("X", "no_cut", "Remove the cut", "Nothing is summarised then."),
    Key("g", "to_cut", "Go to the cut"),
    Key("e", "summary", "Edit the summary", "With the checks beside it.", "Summary"),
    Key("w", "rewrite", "Write the summary anew", "By the program, from what is summarised now."),
    Key("c", "compare", "Compare before and after", "The two model views side by side."),
    Key("u", "undo_edit", "Undo the last edit"),
    Key("ctrl+r", "redo_edit", "Redo the edit"),
    Key("v", "checks", "Show the checks", "Again: the selected item."),
    Key("a", "approve", "Approve and write", "Shows exactly what will be written, and asks.", "Approve"),
    Key("enter", "detail", "Read the selected item in full", "Esc goes back to the list.", shown_as="enter"),
    Key("[,left_square_bracket", "turn(-1)", "Go to previous turn", shown_as="["),
    Key("],right_square_bracket", "turn(1)", "Go to next turn", shown_as="]"),
    Key("b", "biggest", "Go to the biggest item"),
    Key("o", "pair", "Go to the other half of the pair"),
    Key("space", "fold", "Fold or unfold this turn"),
    Key("z", "fold_all", "Fold or unfold all turns"),
    Key("r", "raw", "Show the stored record"),
    Key("escape", "back", "Leave the review", "Nothing was written; asks where edits would be lost.", "Leave", "esc"),
    Key("q", "app.quit", "Quit Seamline", "Nothing was written; asks where edits would be lost."),
)
"""On a turn's header, the keys for dispositions apply to the whole turn."""

ELSEWHERE = (
    Key("enter", "choose", "Open the selected leaf or session", footer="Open", shown_as="enter"),
    Key("escape", "back", "Go back", footer="Back", shown_as="esc"),
)

LEAVE = (
    Key("y,enter", "leave", "Leave and lose the edits", footer="Leave", shown_as="y enter"),
    Key("escape,n", "stay", "Go on with the review", footer="Stay", shown_as="esc"),
)

SUMMARY = (
    Key("escape", "back", "Keep the text and go back", "u in the review takes it back.", "Keep and go back", "esc"),
)

COMPARE = (
    Key("escape,c", "back", "Go back to the review", footer="Back", shown_as="esc"),
    Key("tab", "other", "Go to the other view", footer="Other side"),
    Key("space", "fold", "Fold or unfold this turn", footer="Fold"),
    Key("z", "fold_all", "Fold or unfold all turns"),
    Key("[,left_square_bracket", "turn(-1)", "Go to previous turn", shown_as="[", together="Turn"),
    Key("],right_square_bracket", "turn(1)", "Go to next turn", shown_as="]", together="Turn"),
)

RECEIPT = (
    Key("enter,escape", "done", "Go on with the session as it is now", footer="Go on", shown_as="enter"),
    Key("U", "undo", "Undo this commit", "Gives the file its old bytes back.", "Undo"),
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
            show=bool(key.footer or key.together),
            key_display=key.footer_key or key.shown_as or None,
            group=Binding.Group(key.together) if key.together else None,
        )
        for key in keys
    ]
