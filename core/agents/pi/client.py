"""What one version of pi does differently. 1.6.0 and 0.73.1 are modelled exactly, others read like the nearer one."""

from __future__ import annotations

import re
from dataclasses import dataclass

EDITS_SINCE = (0, 87, 0)
"""The first version with `context_edit` entries (its changelog)."""

REFUSES_SINCE = (0, 80, 3)
"""The first version that refuses a file without a header instead of writing over it (its changelog)."""

MODERN_SINCE = (0, 87, 0)
"""From here on requests are built as 1.6.0 builds them, before as 0.73.1 does; when each difference came is unknown."""

MODELLED = ((1, 6, 0), (0, 73, 1))


@dataclass(frozen=True, slots=True)
class Client:
    """One version of pi."""

    version: tuple[int, ...]

    @property
    def edits(self) -> bool:
        """Whether it follows `context_edit` entries."""
        return self.version >= EDITS_SINCE

    @property
    def refuses(self) -> bool:
        """Whether it refuses a file without a header; an older one starts a new session over it."""
        return self.version >= REFUSES_SINCE

    @property
    def modern(self) -> bool:
        """Whether it builds its requests as 1.6.0 does."""
        return self.version >= MODERN_SINCE

    @property
    def modelled(self) -> bool:
        return self.version in MODELLED


def client(version: str) -> Client:
    """The client of this version; one whose version cannot be read counts as 1.6.0."""
    found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version.strip())
    return Client(tuple(int(part or 0) for part in found.groups()) if found else MODELLED[0])
