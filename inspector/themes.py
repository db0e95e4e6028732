"""The two looks. All colours of the program stand here; everything else names them by their meaning."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="seamline-dark",
    dark=True,
    primary="#7fb2d9",
    secondary="#93a4b8",
    accent="#e5a858",
    success="#8cc08f",
    warning="#e0b75e",
    error="#ea918a",
    foreground="#d6dde5",
    background="#11161c",
    surface="#161c24",
    panel="#1e2630",
    boost="#26303c",
    variables={
        "faint": "#95a2b1",
        "line": "#2d3845",
        "cursor": "#27374a",
        "cursor-blurred": "#212b37",
        "kind-user": "#e5a858",
        "kind-assistant": "#8cc08f",
        "kind-thinking": "#b09fd6",
        "kind-call": "#7fb2d9",
        "kind-result": "#86b8b5",
        "kind-image": "#d59ac0",
        "kind-summary": "#e0d08a",
        "footer-background": "#161c24",
        "footer-key-foreground": "#e5a858",
        "footer-description-foreground": "#93a4b8",
        "border": "#2d3845",
        "border-blurred": "#2d3845",
        "scrollbar": "#2d3845",
        "scrollbar-hover": "#3b4959",
        "scrollbar-active": "#93a4b8",
        "scrollbar-background": "#11161c",
        "scrollbar-background-hover": "#11161c",
        "scrollbar-background-active": "#11161c",
        "scrollbar-corner-color": "#11161c",
        "block-cursor-background": "#27374a",
        "block-cursor-foreground": "#d6dde5",
        "block-cursor-text-style": "none",
        "input-selection-background": "#7fb2d9 35%",
    },
)

LIGHT = Theme(
    name="seamline-light",
    dark=False,
    primary="#23628f",
    secondary="#5a6675",
    accent="#8a4f08",
    success="#29662f",
    warning="#705100",
    error="#ad3128",
    foreground="#20262d",
    background="#fbf9f5",
    surface="#f5f2ec",
    panel="#ebe6dc",
    boost="#e3dccf",
    variables={
        "faint": "#596270",
        "line": "#d9d2c5",
        "cursor": "#dfe9f1",
        "cursor-blurred": "#e8e6e0",
        "kind-user": "#8a4f08",
        "kind-assistant": "#29662f",
        "kind-thinking": "#6a4fa3",
        "kind-call": "#23628f",
        "kind-result": "#1b6562",
        "kind-image": "#97407a",
        "kind-summary": "#665600",
        "footer-background": "#f5f2ec",
        "footer-key-foreground": "#8a4f08",
        "footer-description-foreground": "#5a6675",
        "border": "#d9d2c5",
        "border-blurred": "#d9d2c5",
        "scrollbar": "#d9d2c5",
        "scrollbar-hover": "#c5bcab",
        "scrollbar-active": "#5a6675",
        "scrollbar-background": "#fbf9f5",
        "scrollbar-background-hover": "#fbf9f5",
        "scrollbar-background-active": "#fbf9f5",
        "scrollbar-corner-color": "#fbf9f5",
        "block-cursor-background": "#dfe9f1",
        "block-cursor-foreground": "#20262d",
        "block-cursor-text-style": "none",
        "input-selection-background": "#23628f 25%",
    },
)

THEMES = (DARK, LIGHT)


def defaults(dark: bool) -> dict[str, str]:
    """Values of our own variables for themes that do not know them."""
    return (DARK if dark else LIGHT).variables
