"""What the commands of the invented project `ledger` print: made by rule from fixed seeds, always the same."""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal

CURRENCIES = ("EUR", "EUR", "EUR", "USD", "GBP", "CHF", "ISK", "SEK")
SHOPS = (
    "Bakery Lindt",
    "City Transport",
    "Hotel Sól, Reykjavík",
    "Rent March",
    "Café Ångström",
    "Books & More",
    "Power company",
    "Salary",
    "Müller Hardware",
    "Air fares",
    "Pharmacy 24",
    "Telephone",
    "Gym",
    "Żabka",
)
SHOWN = 2000
"""Lines: of a longer output the agent shows only the end."""
REPLAY_FAILURE = (
    "E       AssertionError: account 4711 after entry 002817: legacy balance 1204.35, record balance 1204.36"
)
REPLAY_TRACE = f"""\
=================================== FAILURES ===================================
_______________________ test_both_stores_agree[2025-4711] ______________________

replay = <tools.replay.Replay object at 0x7f3a1c5e9d90>, account = '4711', year = 2025

    @pytest.mark.parametrize("account", ACCOUNTS, ids=lambda number: "2025-" + number)
    def test_both_stores_agree(replay, account, year=2025):
        for entry, legacy, record in replay.side_by_side(account, year):
>           assert legacy == record, "account %s after entry %06d: legacy balance %s, record balance %s" % (
                account, entry.seq, legacy, record
            )
{REPLAY_FAILURE}
E       assert Decimal('1204.35') == Decimal('1204.36')

tests/replay/test_replay.py:88: AssertionError"""


def replay_log(failing: bool = True, seed: int = 2025) -> str:
    """The output of `make replay`: thousands of lines; of the one that failed, those of REPLAY_TRACE matter."""
    rng = random.Random(seed)
    head = [
        "rm -rf var/replay",
        ".venv/bin/python -m tools.replay --build var/replay",
        "built var/replay: 61 accounts, 4312 entries, 8 currencies in 9.8s",
        ".venv/bin/python -m pytest tests/replay -x -s -p no:cacheprovider",
        "============================= test session starts ==============================",
        "platform linux -- Python 3.9.19, pytest-8.3.3, pluggy-1.5.0",
        "rootdir: /home/dana/work/ledger",
        "collected 61 items",
        "",
    ]
    if not failing:
        return "\n".join([*head, *_replayed(rng, 4312), "============================== 61 passed in 104.02s ==="])
    ending = [
        "=========================== short test summary info ============================",
        "FAILED tests/replay/test_replay.py::test_both_stores_agree[2025-4711] - Asser...",
        "!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!",
        "1 failed, 46 passed in 71.24s (0:01:11)",
        "make: *** [Makefile:10: replay] Error 1",
    ]
    body = [*_replayed(rng, 2816), "002817 ISK DIFFERS"]
    return "\n".join([*head, *body, REPLAY_TRACE, *_captured_log(rng, 420), *ending])


def _replayed(rng: random.Random, entries: int) -> list[str]:
    """One line for each entry, and a heading for each account; the last account is 4711."""
    made: list[str] = []
    account, left = 4000, 0
    for number in range(1, entries + 1):
        if left == 0:
            account, left = account + rng.randint(3, 28), rng.randint(40, 90)
            made.append(f"account {4711 if entries - number < left else account}")
        left -= 1
        made.append(f"{number:06d} {rng.choice(CURRENCIES)} ok")
    return made


def _captured_log(rng: random.Random, lines: int) -> list[str]:
    made = ["------------------------------ Captured log call -------------------------------"]
    number = 2817 - lines
    while len(made) < lines:
        number += 1
        source, line = rng.choice((("replay", 41), ("replay", 57), ("store", 133), ("rates", 34)))
        made.append(f"DEBUG    ledger.{source}:{source}.py:{line} entry {number:06d} read")
    return made


def side_by_side(seed: int, rows: int, wrong: bool, heading: str) -> str:
    """The output of `tools.replay --one`: entries with the balance in both stores."""
    rng = random.Random(seed)
    day, balance = date(2025, 3, 1), Decimal("1377.20")
    out = [heading, "   seq  value date  written     cur       amount   legacy     record", "-" * 68]
    seq = 2700
    for row in range(rows):
        seq += rng.randint(1, 6)
        day += timedelta(days=rng.choice((0, 0, 0, 1)))
        written = day + timedelta(days=rng.choice((0, 0, 1, 3)))
        amount = Decimal(rng.randint(-9000, 8800)) / 100
        balance += amount
        record = balance + Decimal("0.01") if wrong and row > rows * 0.6 else balance
        mark = "   <- differs" if record != balance else ""
        currency = rng.choice(CURRENCIES)
        out.append(f"{seq:06d}  {day}  {written}  {currency}  {amount:>11}  {balance:>8}  {record:>8}{mark}")
    last = f"first difference: entry 002817, {Decimal('0.01')} EUR" if wrong else "no difference"
    return "\n".join([*out, "-" * 68, f"{rows} entries compared, {last}"])


def imported(seed: int, lines: int) -> str:
    """The output of a dry run of the importer, one line for each line of the bank's file."""
    rng = random.Random(seed)
    day = date(2025, 5, 2)
    out = ["reading var/inbox/kontist-2025-05.csv: format kontist, EUR"]
    posted = known = 0
    for number in range(2, lines + 2):
        day += timedelta(days=rng.choice((0, 0, 0, 0, 1)))
        new = rng.random() < 0.7
        posted, known = posted + new, known + (not new)
        amount = Decimal(rng.randint(-30000, 26000)) / 100
        shop = rng.choice(SHOPS)
        verb = "would post" if new else "known     "
        out.append(f"line {number:>4}  {verb}  {rng.choice((4711, 4802, 5130))}  {day}  {amount:>9}  {shop}")
    return "\n".join([*out, f"{posted} would be posted, {known} known, 0 rejected", "dry run: nothing was written"])


def backfilled(seed: int, families: dict[str, int], verb: str) -> str:
    """The output of `tools.backfill`: batches by family with their checksums."""
    rng = random.Random(seed)
    out = ["source var/ledger.db, target var/records"]
    for family, count in families.items():
        done = 0
        while done < count:
            batch = min(250, count - done)
            done += batch
            out.append(
                f"{family:<14} {done:>6}/{count:<6} {verb}  {rng.getrandbits(48):012x}  {rng.randint(18, 240)} ms"
            )
        out.append(f"{family:<14} complete: {count} records")
    return "\n".join([*out, f"{len(families)} families, {sum(families.values())} records, 0 conflicts"])


def counted(seed: int, accounts: int, columns: str = "account|legacy|records") -> str:
    """The answer of a query that counts entries by account in both stores."""
    rng = random.Random(seed)
    out, number, total = [columns], 4000, 0
    for _ in range(accounts):
        number += rng.randint(3, 30)
        entries = rng.randint(20, 140)
        total += entries
        out.append(f"{number}|{entries}|{entries}")
    return "\n".join([*out, f"total|{total}|{total}"])


def passed(*files: tuple[str, int], seconds: float) -> str:
    """A quiet run of pytest in which all tests passed."""
    width = max(len(name) for name, _ in files)
    total = sum(count for _, count in files)
    lines = [f"{name:<{width}} {'.' * count}" for name, count in files]
    return "\n".join([*lines, "", f"{total} passed in {seconds}s"])


def committed(branch: str, digest: str, title: str, *changes: tuple[str, int, int]) -> str:
    """What `git commit` and a `git show --stat` after it print."""
    out = [f"[{branch} {digest}] {title}"]
    added, removed = sum(change[1] for change in changes), sum(change[2] for change in changes)
    out.append(f" {len(changes)} files changed, {added} insertions(+), {removed} deletions(-)")
    for path, plus, minus in changes:
        out.append(f" {path:<34} | {plus + minus:>3} {'+' * min(plus, 30)}{'-' * min(minus, 30)}")
    return "\n".join(out)
