"""Figures in words: tokens, shares, sizes, ages. A figure that is only estimated carries a tilde."""

from __future__ import annotations


def tokens(value: int, counted: bool = True) -> str:
    """Tokens with thousands separators; `~` where they are estimated."""
    return f"{value:,}" if counted else f"~{value:,}"


def short(value: int) -> str:
    """A figure in four characters or so: 940, 12.4k, 128k, 1.2M."""
    for limit, divisor, suffix in ((10_000, 1, ""), (1_000_000, 1000, "k"), (1_000_000_000, 1_000_000, "M")):
        if value < limit:
            if divisor == 1:
                return f"{value:,}"
            scaled = value / divisor
            return f"{scaled:.1f}".removesuffix(".0") + suffix if scaled < 100 else f"{scaled:.0f}{suffix}"
    return f"{value / 1_000_000_000:.1f}G"


def share(part: int, whole: int | None) -> str:
    """A part of a whole in per cent; empty where the whole is unknown."""
    if not whole:
        return ""
    percent = 100 * part / whole
    return "<0.1%" if 0 < percent < 0.1 else f"{percent:.1f}%"


def size(count: int) -> str:
    """Bytes: 812 B, 24.1 KB, 3.2 MB."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 1000:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def age(seconds: float) -> str:
    """How long ago: just now, 5 min, 3 h, 12 d."""
    if seconds < 60:
        return "just now"
    for limit, divisor, unit in ((3600, 60, "min"), (86_400, 3600, "h"), (86_400 * 365, 86_400, "d")):
        if seconds < limit:
            return f"{int(seconds // divisor)} {unit} ago"
    return f"{int(seconds // (86_400 * 365))} y ago"


EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(fraction: float, width: int) -> str:
    """A bar of `width` cells, filled to `fraction` (0 to 1) in steps of an eighth."""
    steps = round(min(1.0, max(0.0, fraction)) * width * 8)
    full, rest = divmod(steps, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)[:width]
