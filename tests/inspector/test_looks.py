"""One visual language: no colour outside the themes, one table of keys, few of them in the footer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

import inspector
from inspector import keymap, themes
from inspector.widgets.timeline_rows import ICONS

ROOT = Path(inspector.__file__).parent
AREAS = {
    name: getattr(keymap, name)
    for name in ("CHOOSER", "TIMELINE", "ELSEWHERE", "REVIEW", "LEAVE", "SUMMARY", "COMPARE", "RECEIPT", "APP")
}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.tcss")), ids=lambda path: path.name)
def test_style_sheets_name_colours_by_their_meaning(path: Path) -> None:
    for line in path.read_text().splitlines():
        value = re.match(r"\s*(?:color|background|border[\w-]*)\s*:\s*(.+);", line)
        if value:
            words = value[1].split()
            assert any(word.startswith("$") or word in ("none", "auto") for word in words), line
        assert not re.search(r"#[0-9a-f]{3,8}\b\s*;", line), line


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_has_no_colour(path: Path) -> None:
    if path.name != "themes.py":
        assert not re.search(r"""["']#[0-9a-fA-F]{6}["']""", path.read_text())


def test_the_themes_know_the_same_names() -> None:
    assert set(themes.DARK.variables) == set(themes.LIGHT.variables)


@pytest.mark.parametrize("theme", themes.THEMES, ids=lambda theme: theme.name)
def test_text_can_be_read(theme: Theme) -> None:
    """At least 4.5 to 1 against each ground that it stands on, as WCAG AA asks."""
    grounds = [theme.background, theme.surface, theme.variables["cursor"]]
    inks = [theme.foreground, theme.accent, theme.success, theme.warning, theme.error, theme.primary]
    inks += [value for name, value in theme.variables.items() if name.startswith("kind-") or name == "faint"]
    for ground in grounds:
        for ink in inks:
            assert ground and ink
            assert contrast(ink, ground) >= 4.5, (ink, ground, contrast(ink, ground))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(value: str) -> float:
    parts = [part / 255 for part in Color.parse(value).rgb]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("area", AREAS)
def test_each_key_means_one_thing(area: str) -> None:
    keys = [key for entry in AREAS[area] for key in entry.keys.split(",")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("area", [area for area in AREAS if area != "APP"])
def test_the_footer_holds_six_keys_at_most(area: str) -> None:
    own = {key for entry in AREAS[area] for key in entry.keys.split(",")}
    shown = {entry.footer or entry.together for entry in AREAS[area]}
    shown |= {entry.footer for entry in keymap.APP if not own & set(entry.keys.split(","))}
    assert len(shown - {""}) <= 6, shown


def test_the_help_writes_each_key_as_it_is() -> None:
    display = {entry.action: entry.display for entry in keymap.REVIEW}
    assert display["cut(-1)"].startswith("<") and display["cut(1)"].startswith(">")
    assert all("<>" not in entry.display for entries in AREAS.values() for entry in entries)


def test_every_command_has_words_that_begin_with_a_verb() -> None:
    for entries in AREAS.values():
        for entry in entries:
            assert re.match(r"[A-Z][a-z]+ ", entry.words), entry


def test_icons_are_one_cell_wide_and_tell_kinds_apart() -> None:
    assert len(set(ICONS.values())) == len(ICONS)
    assert all(len(icon) == 1 for icon in ICONS.values())
