"""Names of the parts that widgets draw, as the style sheets know them."""

from __future__ import annotations


def parts(prefix: str, names: str) -> set[str]:
    """Component classes `prefix--name` for names parted by spaces."""
    return {f"{prefix}--{name}" for name in names.split()}
