"""Files that the model writes whole in the English story."""

SHARED = '''\
"""The process-wide RecordStore, and the sequence numbers that RecordStore does not hand out itself."""

import os
import threading
from pathlib import Path
from typing import Optional

from ledger.records.store import RecordStore

FAMILIES = ("account", "owner", "entry", "rate", "statement", "line", "import", "import-report")
WIDTH = 12

_lock = threading.Lock()
_store: Optional[RecordStore] = None
_last_seq: Optional[int] = None


def records() -> RecordStore:
    """The store of this process, opened at the first call."""
    global _store
    with _lock:
        if _store is None:
            _store = RecordStore(Path(os.environ.get("LEDGER_RECORDS", "var/records")), FAMILIES)
        return _store


def next_seq() -> int:
    """The next sequence number of an entry; follows the highest one in the store."""
    global _last_seq
    store = records()
    with _lock:
        if _last_seq is None:
            _last_seq = max((int(key.split("/")[1]) for key in store.keys("entry")), default=0)
        _last_seq += 1
        return _last_seq


def entry_key(account: str, seq: int) -> str:
    """Keys of one account sort as their sequence numbers do."""
    return "{}/{:0{}d}".format(account, seq, WIDTH)


def reset() -> None:
    """For tests: forget the store and the numbers."""
    global _store, _last_seq
    with _lock:
        _store = _last_seq = None
'''

ADAPTER = '''\
"""RecordStore with the method names of LegacyStore."""

from contextlib import contextmanager
from datetime import date
from typing import Any, Dict, Iterator, List, Optional

from ledger.records.shared import FAMILIES, entry_key, next_seq
from ledger.records.store import RecordStore


class LegacyAdapter(RecordStore):
    """Drop-in for LegacyStore: each call is a write session of its own."""

    def __init__(self, root) -> None:
        super().__init__(root, FAMILIES)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.begin():
            yield

    def fetch_row(self, kind: str, key: str) -> Optional[Dict[str, Any]]:
        return self.get(kind, key)

    def fetch_keys(self, kind: str, prefix: str = "") -> List[str]:
        return self.keys(kind, prefix)

    def put_row(self, kind: str, key: str, body: Dict[str, Any], day: Optional[date] = None) -> int:
        seq = 0
        if kind == "entry":
            seq = next_seq()
            key, body = entry_key(key, seq), dict(body, seq=seq, value_date=day)
        with self.begin() as session:
            session.put(kind, key, body)
        return seq

    def update_row(self, kind: str, key: str, **changes: Any) -> bool:
        row = self.get(kind, key)
        if row is None:
            return False
        with self.begin() as session:
            session.put(kind, key, dict(row, **changes), expect=self.version(kind, key))
        return True

    def fetch_entries(self, kind: str, key: str, since=None, until=None) -> List[Dict[str, Any]]:
        return list(self.scan(kind, key + "/", since, until))
'''

NOTES = """\
# Notes on the move to RecordStore

## Rules (from Dana)
- Do not change the public interface (ledger/public.py).
- keep Python 3.9 compatibility
- Do not push anything to the remote
- never edit the files under tests/golden

## Decided
- One process-wide store in ledger/records/shared.py.
- Private helpers get the open write session; public functions open it.
- Order is asked for by the caller (order_by), not built into scan().

## Done
- accounts, rates, postings, importer; the local database is backfilled and verified.

## Tried, does not work
- Adapter subclass with the old method names: begin() may not nest.
- Sorting inside scan(): breaks the promise of constant memory, records tests fail.

## Next
- statements.py, then the last imports, then the docs.
"""
