"""The transaction: a patch that a person approved becomes bytes in a session's file, or nothing does.

This package writes and knows no format; a format's writer makes the `Patch` and never writes. The order in which a
command or a screen calls it (`Journal()` needs a folder that can be written; every refusal is a `CommitRefused` or
`Stale` whose message says why and what to do):

```python
with Journal() as journal:                          # journal.sqlite3 in our state folder, or Journal(folder)
    for found in recover(journal, path, now=now):   # before opening: what a killed commit left is put right
        ...                                         # show found.words; if found.outcome == "stopped": end here
    can_write(path)                                 # before any work, and before a summary is paid for
    opened, proposal, patch, after = ...            # open, plan, encode, read the after-view through Overlay
    liveness = look(path, agent.known_running(path), journal, now=now)
    ...                                             # "running": refused; "recent": show .words and ask
    receipt = commit(request, journal, stamp)       # checks all of it again, under a lock

    receipt = undo(path, journal, now=now, known_running=agent.known_running)
    journal.receipts(path)                          # newest first; journal.receipts() for all
```

A `Request` holds the patch, the `fingerprint` of the session that it was made for, `approved` (the digest of the
after-view that the person saw) and `reread` (opens the path that it is given afresh from the disk and digests that
view). Both digests are made by `view_digest(view)`. A commit whose re-read view differs is taken back.

What is promised, for an append: after any failure that this process survives, the file has its old bytes and time of
change; after a kill, it has its old bytes, those and a beginning of ours, or all of ours, and `recover` makes that
old or approved, unless the agent has written since: then nothing is touched and the message explains. The bytes of
an agent that appends at the same time are never removed.

For a replacement the file has its old bytes or all of ours, never anything between.

A patch is a list of changes. Each kind of change (`append`, `create`, `replace`) has one module that can carry
it out, take it back while the process lives, judge what a killed process left, and reverse it long after. The rest
(lock, journal, re-check, re-read, rollback) is the same for all.
"""

from __future__ import annotations

from core.commit.apply import can_write, commit
from core.commit.digest import view_digest
from core.commit.journal import Journal, state_folder
from core.commit.liveness import Liveness, look
from core.commit.receipt import Facts, FileState, Receipt, Sha256, Span
from core.commit.recover import Recovered, recover
from core.commit.request import Request
from core.commit.undo import undo

__all__ = [
    "Facts",
    "FileState",
    "Journal",
    "Liveness",
    "Receipt",
    "Recovered",
    "Request",
    "Sha256",
    "Span",
    "can_write",
    "commit",
    "look",
    "recover",
    "state_folder",
    "undo",
    "view_digest",
]
