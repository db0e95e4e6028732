"""Tests and tools that the model writes whole in the English story."""

TEST_SHARED = '''\
"""The process-wide store and the sequence numbers."""

import threading

import pytest

from ledger.records import shared
from ledger.records.store import SessionError


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("LEDGER_RECORDS", str(tmp_path / "records"))
    shared.reset()
    yield
    shared.reset()


def test_one_store_for_all():
    assert shared.records() is shared.records()


def test_store_lies_where_the_environment_says(tmp_path):
    assert shared.records().root == tmp_path / "records"


def test_families_are_known():
    for family in shared.FAMILIES:
        assert shared.records().keys(family) == []


def test_numbers_begin_at_one():
    assert [shared.next_seq() for _ in range(3)] == [1, 2, 3]


def test_numbers_follow_what_is_stored():
    with shared.records().begin() as session:
        session.put("entry", shared.entry_key("4711", 41), {"account": "4711"})
        session.put("entry", shared.entry_key("4802", 17), {"account": "4802"})
    assert shared.next_seq() == 42


def test_numbers_are_handed_out_once():
    taken = []

    def take():
        for _ in range(200):
            taken.append(shared.next_seq())

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 1600


def test_keys_sort_as_numbers_do():
    keys = [shared.entry_key("4711", seq) for seq in (9, 10, 99, 100, 12345)]
    assert keys == sorted(keys)


def test_a_prefix_ends_at_the_slash():
    with shared.records().begin() as session:
        session.put("entry", shared.entry_key("471", 1), {"account": "471"})
        session.put("entry", shared.entry_key("4711", 2), {"account": "4711"})
    found = list(shared.records().scan("entry", "471/"))
    assert [record["account"] for record in found] == ["471"]


def test_sessions_do_not_nest():
    with shared.records().begin():
        with pytest.raises(SessionError, match="already open"):
            with shared.records().begin():
                pass


def test_a_failed_session_leaves_nothing():
    with pytest.raises(RuntimeError):
        with shared.records().begin() as session:
            session.put("entry", shared.entry_key("4711", 1), {"account": "4711"})
            raise RuntimeError("in the middle")
    assert shared.records().keys("entry") == []
'''

TEST_ORDER = '''\
"""The order of entries: by value date, then as posted, whatever the order of writing was."""

import itertools
from datetime import date
from decimal import Decimal

import pytest

from ledger import public
from ledger.postings import ORDER, Posting, _from_row, forget_balances, running_balance
from ledger.records.shared import entry_key, next_seq, records

DAYS = (date(2025, 3, 14), date(2025, 3, 14), date(2025, 3, 15), date(2025, 3, 17))
AMOUNTS = (Decimal("-12.50"), Decimal("-18400"), Decimal("-7.20"), Decimal("2100.00"))
TEXTS = ("Airport bus", "Hotel S\u00f3l, Reykjav\u00edk", "Coffee", "Salary")
CURRENCIES = ("EUR", "ISK", "EUR", "EUR")


def entry(position):
    return Posting("4711", AMOUNTS[position], CURRENCIES[position], DAYS[position], TEXTS[position])


def write(order):
    """Write the entries in the given order, each with the number that it has on the bank's paper."""
    numbers = [next_seq() for _ in order]
    with records().begin() as session:
        for position in order:
            row = {
                "account": "4711",
                "amount": AMOUNTS[position],
                "currency": CURRENCIES[position],
                "value_date": DAYS[position],
                "text": TEXTS[position],
                "reference": "r{}".format(position),
                "reverses": None,
                "seq": numbers[position],
            }
            session.put("entry", entry_key("4711", numbers[position]), row)
    forget_balances()


@pytest.fixture
def account(accounts, rates):
    rates.set("ISK", "EUR", date(2025, 3, 14), Decimal("0.00681199"))
    return accounts.open("4711", "Ada Brandt", "EUR", limit=Decimal("500.00"))


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_entries_come_by_value_date(account, order):
    write(order)
    found = public.get_entries("4711")
    assert [posting.text for posting in found] == list(TEXTS)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_balance_does_not_depend_on_writing(account, order):
    write(order)
    assert public.balance_of("4711") == Decimal("1954.96")


def test_running_balance_is_rounded_after_each_entry(account):
    write((3, 1, 0, 2))
    balances = [balance for _, balance in running_balance("4711")]
    assert balances == [Decimal("-12.50"), Decimal("-137.84"), Decimal("-145.04"), Decimal("1954.96")]


def test_scan_itself_stays_in_order_of_writing(account):
    write((2, 0, 3, 1))
    rows = [_from_row(row) for row in records().scan("entry", "4711/")]
    assert [row.text for row in rows] == ["Coffee", "Airport bus", "Salary", "Hotel S\u00f3l, Reykjav\u00edk"]


def test_order_is_what_legacy_store_had():
    assert ORDER == ("value_date", "seq")
'''

TOOL_STATEMENT = '''\
"""Print a made statement beside the golden one, line by line, with the balance of both."""

import argparse
import sys
from datetime import date
from decimal import Decimal

from ledger import public
from ledger.statements import month_bounds
from tests.golden import read_statement

HEAD = "{:>6}  {:<10}  {:<10}  {:<3}  {:>11}  {:>8}  {:>8}"
ROW = "{:06d}  {}  {}  {}  {:>11}  {:>8}  {:>8}{}"


def compare(account, year, month):
    """Yield (entry, golden balance, made balance); stops at the shorter one of the two."""
    golden = read_statement(account, year, month)
    made = public.statement_for(account, year, month)
    entries = public.get_entries(account, *month_bounds(year, month))
    if len(golden.lines) != len(made.lines):
        print("golden has {} lines, made has {}".format(len(golden.lines), len(made.lines)), file=sys.stderr)
    for entry, old, new in zip(entries, golden.lines, made.lines):
        yield entry, old.balance, new.balance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("account")
    parser.add_argument("month", help="YYYY-MM")
    parser.add_argument("--compare", action="store_true")
    given = parser.parse_args()
    year, month = (int(part) for part in given.month.split("-"))
    print("account {}, statement {}: golden and made".format(given.account, given.month))
    print(HEAD.format("seq", "value date", "written", "cur", "amount", "golden", "record"))
    first = None
    count = 0
    for count, (entry, golden, made) in enumerate(compare(given.account, year, month), start=1):
        mark = "   <- differs" if golden != made else ""
        if golden != made and first is None:
            first = (entry.seq, abs(made - golden))
        print(ROW.format(entry.seq, entry.value_date, entry.written, entry.currency, entry.amount, golden, made, mark))
    if first is None:
        print("{} entries compared, no difference".format(count))
        return 0
    print("{} entries compared, first difference: entry {:06d}, {} EUR".format(count, *first))
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
'''

TOOL_ORDERS = '''\
"""Show in which order both stores give the entries of one account."""

import argparse
from datetime import date
from itertools import zip_longest

from ledger.legacy.store import LegacyStore
from ledger.records.shared import records


def legacy_order(account, since, until):
    for row in LegacyStore("var/replay/legacy.db").fetch_entries("entry", account, since, until):
        yield row["day"], row["seq"]


def record_order(account, since, until):
    for row in records().scan("entry", account + "/", since, until):
        yield row["value_date"].isoformat(), row["seq"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("account")
    parser.add_argument("--year", type=int, default=2025)
    given = parser.parse_args()
    since, until = date(given.year, 1, 1), date(given.year, 12, 31)
    pairs = zip_longest(
        legacy_order(given.account, since, until), record_order(given.account, since, until), fillvalue=("-", 0)
    )
    print("position  legacy (day, seq)      records (as written)")
    for position, (old, new) in enumerate(pairs, start=1):
        mark = "" if old == new else "   <- other entry"
        print("{:>8}  {} {:06d}     {} {:06d}{}".format(position, *old, *new, mark))


if __name__ == "__main__":
    main()
'''
