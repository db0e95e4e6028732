"""The backfill and its tests, written whole by the model in the English story."""

TOOL_BACKFILL = '''\
"""Copy what is in LegacyStore to RecordStore, family by family, and prove that both are equal."""

import argparse
import hashlib
import json
import time
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ledger.legacy.store import LegacyStore
from ledger.records.codec import encode
from ledger.records.shared import FAMILIES, entry_key
from ledger.records.store import RecordStore

BATCH = 250

Row = Dict[str, Any]


def _date(text: Any) -> Any:
    return date.fromisoformat(text) if text else None


TYPES: Dict[str, Dict[str, Callable[[Any], Any]]] = {
    "account": {"opened": _date, "closed": _date, "limit": Decimal},
    "entry": {"amount": Decimal, "value_date": _date, "seq": int},
    "rate": {"rate": Decimal, "value_date": _date},
    "statement": {"year": int, "month": int, "opening": Decimal, "closing": Decimal, "number": int},
    "line": {"day": _date, "amount": Decimal, "booked": Decimal, "balance": Decimal},
    "import": {"line": int, "value_date": _date},
    "import-report": {"posted": int, "known": int, "rejected": int},
}


def typed(family: str, row: Row) -> Row:
    """The row with the types that records have; fields without a rule stay as they are."""
    rules = TYPES.get(family, {})
    return {name: rules[name](value) if name in rules else value for name, value in row.items()}


def rows_of(legacy: LegacyStore, family: str) -> Iterator[Tuple[str, Row]]:
    """Each key with its newest row; of entries every row, under a key of its own."""
    for key in legacy.fetch_keys(family):
        if family != "entry":
            row = legacy.fetch_row(family, key)
            if row is not None:
                yield key, typed(family, row)
            continue
        for row in legacy.fetch_entries(family, key):
            row.pop("day", None)
            yield entry_key(key, row["seq"]), typed(family, row)


def batches(rows: Iterator[Tuple[str, Row]]) -> Iterator[List[Tuple[str, Row]]]:
    batch: List[Tuple[str, Row]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def checksum(batch: List[Tuple[str, Row]]) -> str:
    digest = hashlib.sha256()
    for key, row in batch:
        digest.update(key.encode("utf-8") + b"\\x00" + encode(row))
    return digest.hexdigest()[:12]


def copy(legacy: LegacyStore, store: RecordStore, family: str, apply: bool) -> int:
    """Copy one family; returns how many records. Records that are there already are not written again."""
    done = 0
    total = sum(1 for _ in rows_of(legacy, family))
    for batch in batches(rows_of(legacy, family)):
        began = time.monotonic()
        if apply:
            new = [(key, row) for key, row in batch if store.get(family, key) != row]
            with store.begin() as session:
                session.put_many(family, new)
        done += len(batch)
        spent = int((time.monotonic() - began) * 1000)
        verb = "copied" if apply else "would "
        print("{:<14} {:>6}/{:<6} {}  {}  {} ms".format(family, done, total, verb, checksum(batch), spent))
    print("{:<14} complete: {} records".format(family, done))
    return done


def verify(legacy: LegacyStore, store: RecordStore, family: str) -> List[str]:
    """The keys whose record differs, or is missing on one side."""
    wanted = dict(rows_of(legacy, family))
    different = [key for key, row in wanted.items() if store.get(family, key) != row]
    return different + [key for key in store.keys(family) if key not in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path("var/ledger.db"))
    parser.add_argument("--target", type=Path, default=Path("var/records"))
    parser.add_argument("--apply", action="store_true", help="write; without it only tell what would be written")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")
    given = parser.parse_args()
    legacy, store = LegacyStore(str(given.source)), RecordStore(given.target, FAMILIES)
    print("source {}, target {}".format(given.source, given.target))
    if given.verify:
        different = {family: verify(legacy, store, family) for family in FAMILIES}
        if given.json:
            print(json.dumps(different, indent=1))
        return 1 if any(different.values()) else 0
    total = sum(copy(legacy, store, family, given.apply) for family in FAMILIES)
    print("{} families, {} records".format(len(FAMILIES), total))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
'''

TEST_BACKFILL = '''\
"""The backfill: types, keys, running it twice, and what verify finds."""

from datetime import date
from decimal import Decimal

import pytest

from ledger.legacy.store import LegacyStore
from ledger.records.shared import FAMILIES
from ledger.records.store import RecordStore
from tools.backfill import batches, checksum, copy, rows_of, typed, verify


@pytest.fixture
def legacy(tmp_path):
    store = LegacyStore(str(tmp_path / "ledger.db"))
    store.put_row("account", "4711", {"number": "4711", "opened": "2024-01-02", "closed": None, "limit": "500.00"})
    for day, amount in (("2025-03-17", "2100.00"), ("2025-03-14", "-12.50"), ("2025-03-14", "-18400")):
        row = {"account": "4711", "amount": amount, "currency": "EUR", "value_date": day, "reference": day + amount}
        store.put_row("entry", "4711", row, day=date.fromisoformat(day))
    return store


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path / "records", FAMILIES)


def test_types():
    row = typed("account", {"number": "4711", "opened": "2024-01-02", "closed": None, "limit": "500.00"})
    assert row == {"number": "4711", "opened": date(2024, 1, 2), "closed": None, "limit": Decimal("500.00")}


def test_each_entry_has_its_own_key(legacy):
    keys = [key for key, _ in rows_of(legacy, "entry")]
    assert keys == ["4711/000000000003", "4711/000000000004", "4711/000000000002"]


def test_batches():
    assert [len(batch) for batch in batches(iter([("k", {})] * 601))] == [250, 250, 101]


def test_without_apply_nothing_is_written(legacy, store):
    assert copy(legacy, store, "entry", apply=False) == 3
    assert store.keys("entry") == []


def test_copied_is_equal(legacy, store):
    for family in FAMILIES:
        copy(legacy, store, family, apply=True)
        assert verify(legacy, store, family) == []


def test_twice_writes_once(legacy, store):
    copy(legacy, store, "entry", apply=True)
    copy(legacy, store, "entry", apply=True)
    assert [store.version("entry", key) for key in store.keys("entry")] == [1, 1, 1]


def test_verify_finds_what_differs(legacy, store):
    copy(legacy, store, "account", apply=True)
    with store.begin() as session:
        session.put("account", "4711", dict(store.get("account", "4711"), limit=Decimal("0.00")))
        session.put("account", "9999", {"number": "9999"})
    assert verify(legacy, store, "account") == ["4711", "9999"]


def test_checksum_depends_on_order():
    one, two = ("a", {"x": 1}), ("b", {"x": 2})
    assert checksum([one, two]) != checksum([two, one])
'''
