"""What a killed commit left is put right before anything else is written."""

from __future__ import annotations

import sys
from pathlib import Path

from inspector.text import printable


def recover_first(path: Path) -> None:
    """End what was interrupted on this session, and say so. Raises CommitRefused where a person should look first."""
    import time

    from core.commit.journal import Journal
    from core.commit.recover import recover
    from core.errors import CommitRefused

    with Journal() as journal:
        for found in recover(journal, path, now=time.time()):
            if found.outcome in ("stopped", "busy"):
                raise CommitRefused(found.words)
            print(f"seamline: {printable(found.words)}", file=sys.stderr)
