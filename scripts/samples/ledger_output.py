"""What the commands of the invented project `ledger` print: made by rule from fixed seeds, always the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate

CENT = Decimal("0.01")
RATES = {"EUR": "1", "USD": "0.92113", "GBP": "1.18904", "CHF": "1.04217", "ISK": "0.00681199", "SEK": "0.08733"}
CURRENCIES = ("EUR", "EUR", "EUR", "USD", "GBP", "CHF", "ISK", "SEK")
HOTEL = (2817, date(2025, 3, 14), Decimal("1204.35"))
"""The entry that matters: its number, its value date and the balance after it."""
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
        return "\n".join([*head, *_replayed(rng, 4312, 61), "============================== 61 passed in 104.02s ==="])
    ending = [
        "=========================== short test summary info ============================",
        "FAILED tests/replay/test_replay.py::test_both_stores_agree[2025-4711] - Asser...",
        "!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!",
        "1 failed, 46 passed in 71.24s (0:01:11)",
        "make: *** [Makefile:10: replay] Error 1",
    ]
    body = [*_replayed(rng, 2816, 47), "002817 ISK DIFFERS"]
    return "\n".join([*head, *body, REPLAY_TRACE, *_captured_log(rng, 420), *ending])


def _replayed(rng: random.Random, entries: int, accounts: int) -> list[str]:
    """A heading for each account and one line for each entry; the last account is 4711."""
    made: list[str] = []
    account, number = 4000, 0
    for position, share in enumerate(_shares(rng, accounts, entries), start=1):
        account += rng.randint(3, 14)
        made.append(f"account {4711 if position == accounts else account}")
        for _ in range(share):
            number += 1
            made.append(f"{number:06d} {rng.choice(CURRENCIES)} ok")
    return made


def _shares(rng: random.Random, parts: int, total: int) -> list[int]:
    """`total` divided into uneven parts."""
    weights = [rng.randint(20, 140) for _ in range(parts)]
    shares = [weight * total // sum(weights) for weight in weights]
    shares[-1] += total - sum(shares)
    return shares


def _captured_log(rng: random.Random, lines: int) -> list[str]:
    made = ["------------------------------ Captured log call -------------------------------"]
    number = 2817 - lines
    while len(made) < lines:
        number += 1
        source, line = rng.choice((("replay", 41), ("replay", 57), ("store", 133), ("rates", 34)))
        made.append(f"DEBUG    ledger.{source}:{source}.py:{line} entry {number:06d} read")
    return made


@dataclass(frozen=True, slots=True)
class Table:
    """Entries of one account with their balance in two stores; `differs` are the rows (from, to) a cent apart."""

    seed: int
    rows: int
    heading: str
    differs: tuple[int, int] = (0, 0)
    first: int = 0
    """Number of the first entry, where the hotel is not among them."""
    hotel: int | None = None
    """The row of the hotel's entry, of which number, day and balance are known."""
    start: date = date(2025, 3, 1)
    opening: str = "0.00"
    closing: str = ""
    """Balance after the last entry, where it is known."""
    old: str = "legacy"

    def lines(self) -> list[list[str]]:
        """The cells of each row."""
        rng = random.Random(self.seed)
        drawn = [_drawn(rng, row == self.hotel) for row in range(self.rows)]
        balances = list(accumulate(booked for *_, booked in drawn))
        seqs = list(accumulate(1 + rng.randint(0, 5) for _ in drawn))
        days = list(accumulate(rng.choice((0, 0, 0, 1)) for _ in drawn))
        known = self.hotel or 0
        number, day, balance = HOTEL if self.hotel is not None else (self.first, self.start, Decimal(self.opening))
        balances = [balance + so_far - balances[known] for so_far in balances]
        if self.closing:
            last = Decimal(self.closing) - balances[-2]
            drawn[-1], balances[-1] = ("EUR", last, 0, last), Decimal(self.closing)
        out: list[list[str]] = []
        for row, ((currency, amount, late, _), old) in enumerate(zip(drawn, balances, strict=True)):
            new = old + CENT if self.differs[0] <= row < self.differs[1] else old
            valued = day + timedelta(days=days[row] - days[known])
            written = valued + timedelta(days=late)
            seq = f"{number + seqs[row] - seqs[known]:06d}"
            out.append([seq, str(valued), str(written), currency, str(amount), str(old), str(new)])
        return out

    def text(self) -> str:
        """The whole output of the comparison."""
        head = f"   seq  value date  written     cur       amount  {self.old:>8}    record"
        out = [self.heading, head, "-" * 68]
        for seq, day, written, currency, amount, old, new in self.lines():
            mark = "   <- differs" if old != new else ""
            out.append(f"{seq}  {day}  {written}  {currency}  {amount:>11}  {old:>8}  {new:>8}{mark}")
        first = self.lines()[self.differs[0]][0]
        last = "no difference" if self.differs == (0, 0) else f"first difference: entry {first}, {CENT} EUR"
        return "\n".join([*out, "-" * 68, f"{self.rows} entries compared, {last}"])


def _drawn(rng: random.Random, hotel: bool) -> tuple[str, Decimal, int, Decimal]:
    """Currency, amount, days between value date and writing, and the amount in EUR."""
    currency = "ISK" if hotel else rng.choice(CURRENCIES)
    amount = Decimal(rng.randint(-9000, 8800)) / 100
    late = rng.choice((0, 0, 0, 1))
    if hotel:
        amount, late = Decimal(-18400), 3
    elif currency in ("ISK", "SEK"):
        amount = (amount * (90 if currency == "ISK" else 10)).quantize(Decimal(1))
    return currency, amount.quantize(CENT), late, (amount * Decimal(RATES[currency])).quantize(CENT)


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


def counted(seed: int, accounts: int, total: int, columns: str = "account|legacy|records") -> str:
    """The answer of a query that counts entries by account in both stores."""
    rng = random.Random(seed)
    out, number = [columns], 4000
    for entries in _shares(rng, accounts, total):
        number += rng.randint(3, 30)
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
