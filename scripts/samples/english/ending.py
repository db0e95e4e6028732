"""Turns 37 to 46: the statements, a golden test that still fails, and the last request, which stays open."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

from scripts.samples import ledger_output as output
from scripts.samples.english.plan import plan
from scripts.samples.english.tests_written import TOOL_STATEMENT
from scripts.samples.telling import Telling

TEST = ".venv/bin/python -m pytest -q"
PATH = "ledger/statements.py"


def tell(t: Telling) -> None:
    """Tell these turns."""
    _where(t)
    _statements(t)
    _lines(t)
    _golden_fails(t)
    _reversals(t)
    _export(t)
    _printed(t)
    _last_request(t)


def _where(t: Telling) -> None:
    t.user(REVIEW)
    t.reply(
        "",
        t.search(r"_announce|WriteSession|next_seq", "ledger"),
        t.read("ledger/importer.py", 52, 40),
        thinking=(
            "Four remarks. (1) _announce inside the try: an exception of a listener would look like a rejected line. "
            "publish() catches everything itself, as far as I remember, but moving the call behind the except costs "
            "nothing. (2) next_seq holds the lock while it reads the keys; that happens once. Fine, but say so. (3) The "
            "type of the session in _remember_owner: store is not needed any more besides _numbers_of. Leave. (4) dict() "
            "of None in _change: an unknown account would be written as a new one! find_account is called before in all "
            "three callers, but rename_owner takes the numbers from the owner's record. Better to raise."
        ),
    )
    t.reply(
        "Thanks, that is helpful. In order: (1) yes, I move `_announce` behind the `except`. (2) `next_seq` reads the keys "
        "once in the life of a process, at the first entry; I leave it and say so in its docstring. (3) The parameter "
        "`store` is still needed for `_numbers_of`, so I leave the signature. (4) That is a real hole: `_change` would "
        "write a new account where there is none. It raises `UnknownAccount` now, which `rename_owner` never let out "
        "before, but only for a damaged owner record.",
        t.edit(
            "ledger/importer.py",
            "            _announce(written)\n",
            "",
        ),
        t.edit(
            "ledger/importer.py",
            "            continue\n        report.posted += 1\n    forget_balances()\n",
            "            continue\n        _announce(written)\n        report.posted += 1\n    forget_balances()\n",
        ),
        t.edit(
            "ledger/accounts.py",
            '    row = dict(store.get("account", number) or {}, **changes)\n',
            '    known = store.get("account", number)\n    if known is None:\n'
            '        raise UnknownAccount("no account {}".format(number))\n    row = dict(known, **changes)\n',
        ),
        t.edit(
            "ledger/records/shared.py",
            '    """The next sequence number of an entry; follows the highest one in the store."""\n',
            '    """The next sequence number of an entry; follows the highest one in the store.\n\n'
            '    The keys are read once in the life of a process, under the lock.\n    """\n',
        ),
        t.run(f"{TEST} tests/test_accounts.py tests/test_importer.py tests/test_shared.py", REVIEWED, seconds=4.4),
    )
    t.reply("All three changes are in, 70 tests pass.")
    t.user("How many calls of LegacyStore are left?")
    t.reply("", t.search(r"LegacyStore|legacy\.store", "ledger"))
    t.reply("Only `ledger/statements.py` and the old package itself are left.", t.read(PATH))
    t.reply(
        "Nine calls in `ledger/statements.py`: four `fetch_row`, two `put_row`, two `fetch_keys` and one `fetch_entries`. "
        "`_keep` writes a statement and its lines together, so it needs one session for all of them.",
        thinking="_original uses fetch_entries with until. scan with the same until and order, or just a lookup by reference.",
    )


def _statements(t: Telling) -> None:
    t.user("Go ahead.")
    t.reply(
        "",
        t.edit(
            PATH,
            "from ledger.legacy.store import LegacyStore\nfrom ledger.postings import Posting, get_entries\nfrom ledger.rates import convert, rounded\n",
            "from ledger.postings import Posting, get_entries\nfrom ledger.rates import convert, rounded\n"
            "from ledger.records.shared import records\nfrom ledger.records.store import RecordStore\n",
        ),
        t.edit(
            PATH,
            '    store = LegacyStore.shared()\n    row = store.fetch_row("statement", _key(account, year, month))\n    if row is not None:\n        return _from_row',
            '    store = records()\n    row = store.get("statement", _key(account, year, month))\n    if row is not None:\n        return _from_row',
        ),
        t.edit(
            PATH,
            '    row = LegacyStore.shared().fetch_row("statement", _key(holder.number, before.year, before.month))\n'
            '    if row is not None:\n        return Decimal(row["closing"])\n',
            '    row = records().get("statement", _key(holder.number, before.year, before.month))\n'
            '    if row is not None:\n        return row["closing"]\n',
        ),
        t.edit(PATH, OLD_KEEP, NEW_KEEP),
        thinking="The same steps as in the other files. Statement rows are typed, so the readers get shorter.",
    )


def _lines(t: Telling) -> None:
    t.reply(
        "",
        t.edit(
            PATH,
            "def _lines_of(store: LegacyStore, account: str, year: int, month: int) -> Iterator[Line]:\n"
            '    prefix = _key(account, year, month) + "#"\n    for key in store.fetch_keys("line", prefix):\n'
            '        row = store.fetch_row("line", key)\n',
            "def _lines_of(store: RecordStore, account: str, year: int, month: int) -> Iterator[Line]:\n"
            '    prefix = _key(account, year, month) + "#"\n    for key in store.keys("line", prefix):\n'
            '        row = store.get("line", key)\n',
        ),
        t.edit(
            PATH,
            '    numbers = LegacyStore.shared().fetch_keys("statement", "{}:{:04d}-".format(account, year))\n',
            '    numbers = records().keys("statement", "{}:{:04d}-".format(account, year))\n',
        ),
        t.edit(
            PATH,
            "    store = LegacyStore.shared()\n    _, last = month_bounds(year, month)\n    due = []\n",
            "    store = records()\n    _, last = month_bounds(year, month)\n    due = []\n",
        ),
        t.edit(
            PATH,
            '        if store.fetch_row("statement", _key(account.number, year, month)) is None:\n',
            '        if store.get("statement", _key(account.number, year, month)) is None:\n',
        ),
    )
    t.reply(
        "",
        t.edit(PATH, OLD_ORIGINAL, NEW_ORIGINAL),
        t.edit(PATH, OLD_READ, NEW_READ),
        t.edit(PATH, OLD_LINE, NEW_LINE),
        thinking="_original: a scan without order is enough, the reference is unique on an account.",
    )
    t.reply("All nine calls are replaced. Now the tests.", t.run(f"{TEST} tests/test_statements.py", FIRST_RUN, 1, 6.3))
    t.reply(
        "Two of twenty fail: a keyword that I renamed in `_line_from_row`, and the closing balance of March. The first is "
        "a slip, I correct it.",
        t.edit(PATH, '        booked_amount=row["booked"],\n', '        booked=row["booked"],\n'),
    )


def _golden_fails(t: Telling) -> None:
    t.user("and the second one?")
    t.reply(
        "I look at the test and at the golden file's reader.",
        t.read("tests/test_statements.py"),
        t.read(PATH, 88, 60),
        thinking="test_closing_balance[3] only; April to June would follow from March, yet they are not reported as failed?",
    )
    t.reply(
        "Only the months from March on can be off, because each opening balance is the closing balance of the month "
        "before. January and February pass.",
        thinking="March has the Iceland trip and its reversals are in April. So not the reversals in March itself?",
    )
    t.user("Is it the order again?")
    t.reply(
        "I write a small tool that prints both statements side by side, so that I need not guess.",
        t.write("tools/statement.py", TOOL_STATEMENT),
        t.run(
            ".venv/bin/python -m tools.statement --compare 4711 2025-03",
            output.side_by_side(41, 98, True, "account 4711, statement 2025-03: golden and made").replace(
                "legacy", "golden"
            ),
            1,
            2.9,
        ),
    )
    t.reply(
        "No, the lines stand in the same order as in the golden statement. The balance is off by one cent from the hotel "
        "in Reykjavík on, entry 002817."
    )


def _reversals(t: Telling) -> None:
    t.user("What could it be then?")
    t.reply(
        "It might be that reversed postings are converted with the rate of the reversal's day instead of the original's, "
        "as `_original` no longer finds an entry when both lie in one month. I have not tested that yet.",
        thinking="scan(until=reversal.value_date) should include it. Unless value_date of the reversal is the earlier one.",
    )
    t.fact(
        "hedged_guesses",
        "It might be that reversed postings are converted with the rate of the reversal's day instead of the original's",
    )


def _export(t: Telling) -> None:
    t.user("By the way, the nightly export reads the store directly, doesn't it? Is that in danger?")
    t.reply(
        "",
        t.search(r"fetch_entries|fetch_row|\.scan\(", "."),
        thinking="The export is not in this repository, as far as I can see.",
    )
    t.reply(
        "The export is not in this repository. Perhaps it relies on the order of the old keys; I could not check that "
        "here, so somebody should look at it before the release."
    )
    t.fact("hedged_guesses", "Perhaps it relies on the order of the old keys")
    t.user("I'll ask them. Put it in the notes as an open question.")
    t.reply(
        "",
        t.edit(
            "NOTES.md",
            "## Next\n",
            "## Open questions\n- Does the nightly export rely on the order of the old keys? (Dana asks)\n\n## Next\n",
        ),
    )
    t.reply("Noted.")


def _printed(t: Telling) -> None:
    t.user("Print the statement of April too, the reversals are in there.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python -m tools.statement --compare 4711 2025-04",
            output.side_by_side(42, 84, True, "account 4711, statement 2025-04: golden and made")
            .replace("legacy", "golden")
            .replace("002817", "002951"),
            1,
            2.7,
        ),
    )
    t.reply("April begins with the wrong cent of March and keeps it; its own lines add nothing to it.")
    t.user("And May, so that we see all three.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python -m tools.statement --compare 4711 2025-05",
            output.side_by_side(43, 88, True, "account 4711, statement 2025-05: golden and made")
            .replace("legacy", "golden")
            .replace("002817", "003066"),
            1,
            2.8,
        ),
    )
    t.reply("May is the same: one cent from its first line on, nothing new.")
    t.user("ok")
    t.fact("courtesies", "ok")
    t.reply("I wait for your word on how to go on.")


def _last_request(t: Telling) -> None:
    request = (
        "Find out why test_closing_balance[3] fails and fix it in the code, not in the golden files. Then finish the open "
        "steps of the plan."
    )
    t.user(request)
    t.fact("last_request", request)
    t.reply(
        "", t.read(PATH), t.read("ledger/postings.py"), thinking="Read both as they are now, before I form an opinion."
    )
    t.reply(
        "",
        t.run(f"{TEST} tests/test_statements.py -k closing_balance", LAST_RUN, 1, 5.8),
        thinking="Run the failing test alone, with the whole message.",
    )
    t.fact(
        "last_failure",
        LAST_FAILURE,
        test="tests/test_statements.py::test_closing_balance[3]",
        file="tests/test_statements.py",
        line=55,
        command=f"{TEST} tests/test_statements.py -k closing_balance",
    )
    t.reply(
        "The test still fails with the same message. Next I run `_booked` for the hotel entry with both days and see "
        "which rate the golden statement was made with; only then do I change `_original`.",
        plan(t, doing=5),
        thinking="Keep the plan as it is: statements in progress. Do not guess again; measure the rate.",
    )
    t.reply("The statements are the step in progress; removing the old package and the docs come after it.")


REVIEW = """\
I read your commits over lunch. Four remarks, none of them urgent:

1. ledger/importer.py: `_announce(written)` stands inside the `try`. If a listener raises PostingRejected (the limits
   service does that!), the line is reported as rejected although its entries are on disk. I think the call belongs
   behind the `except`.
2. ledger/records/shared.py: `next_seq` holds the lock while it lists all keys of all entries. With our 4,312 that is
   nothing, but the big customer has 31 million. Is this done once or for each number?
3. ledger/accounts.py: `_remember_owner` takes both the session and the store. Does it need both?
4. ledger/accounts.py: what does `_change` do for an account that does not exist? `dict(None or {}, ...)` looks as if it
   wrote a new one, without an owner and without a currency. Please make sure that this cannot happen.

If you disagree with one of them, say so, I am not attached to any. Otherwise change it and run the tests of these files."""

REVIEWED = output.passed(
    ("tests/test_accounts.py", 31), ("tests/test_importer.py", 29), ("tests/test_shared.py", 10), seconds=4.06
)

OLD_KEEP = """\
def _keep(store: LegacyStore, made: Statement) -> None:
    key = _key(made.account, made.year, made.month)
    _, last = month_bounds(made.year, made.month)
    with store.transaction():
        store.put_row("statement", key, _to_row(made), day=last)
        for position, line in enumerate(made.lines):
            store.put_row("line", "{}#{:05d}".format(key, position), _line_to_row(line), day=line.day)
"""

NEW_KEEP = """\
def _keep(store: RecordStore, made: Statement) -> None:
    key = _key(made.account, made.year, made.month)
    _, last = month_bounds(made.year, made.month)
    lines = (("{}#{:05d}".format(key, position), _line_to_row(line)) for position, line in enumerate(made.lines))
    with store.begin() as session:
        session.put("statement", key, dict(_to_row(made), value_date=last))
        session.put_many("line", lines)
"""

OLD_ORIGINAL = """\
    for row in LegacyStore.shared().fetch_entries("entry", account, until=reversal.value_date):
        if row["reference"] == reversal.reverses:
            return Posting(
                account=account,
                amount=Decimal(row["amount"]),
                currency=row["currency"],
                value_date=date.fromisoformat(row["value_date"]),
                reference=row["reference"],
                seq=int(row["seq"]),
            )
"""

NEW_ORIGINAL = """\
    for row in records().scan("entry", account + "/", until=reversal.value_date):
        if row["reference"] == reversal.reverses:
            return Posting(
                account=account,
                amount=row["amount"],
                currency=row["currency"],
                value_date=row["value_date"],
                reference=row["reference"],
                seq=row["seq"],
            )
"""

OLD_READ = """\
        year=int(row["year"]),
        month=int(row["month"]),
        opening=Decimal(row["opening"]),
        closing=Decimal(row["closing"]),
        lines=tuple(lines),
        number=int(row["number"]),
"""

NEW_READ = """\
        year=row["year"],
        month=row["month"],
        opening=row["opening"],
        closing=row["closing"],
        lines=tuple(lines),
        number=row["number"],
"""

OLD_LINE = """\
        day=date.fromisoformat(row["day"]),
        text=row["text"],
        reference=row["reference"],
        amount=Decimal(row["amount"]),
        currency=row["currency"],
        booked=Decimal(row["booked"]),
        balance=Decimal(row["balance"]),
"""

NEW_LINE = """\
        day=row["day"],
        text=row["text"],
        reference=row["reference"],
        amount=row["amount"],
        currency=row["currency"],
        booked_amount=row["booked"],
        balance=row["balance"],
"""

LAST_FAILURE = "E   AssertionError: statement 2025-03 of account 4711: expected closing balance 1830.15, got 1830.16"

FIRST_RUN = f"""\
tests/test_statements.py ...........F.....F..                            [100%]

=================================== FAILURES ===================================
____________________________ test_closing_balance[3] ____________________________
tests/test_statements.py:55: in test_closing_balance
    assert statement.closing == expected, "statement {{}} of account {{}}: expected closing balance {{}}, got {{}}".format(
{LAST_FAILURE}
E   assert Decimal('1830.16') == Decimal('1830.15')
________________________________ test_made_once _________________________________
tests/test_statements.py:62: in test_made_once
    again = public.statement_for(travelled, 2025, 3)
ledger/statements.py:226: in _line_from_row
    return Line(
E   TypeError: __init__() got an unexpected keyword argument 'booked_amount'
=========================== short test summary info ============================
FAILED tests/test_statements.py::test_closing_balance[3] - AssertionError: st...
FAILED tests/test_statements.py::test_made_once - TypeError: __init__() got a...
2 failed, 18 passed in 5.92s"""

LAST_RUN = f"""\
tests/test_statements.py ..F...                                          [100%]

=================================== FAILURES ===================================
____________________________ test_closing_balance[3] ____________________________
tests/test_statements.py:55: in test_closing_balance
    assert statement.closing == expected, "statement {{}} of account {{}}: expected closing balance {{}}, got {{}}".format(
{LAST_FAILURE}
E   assert Decimal('1830.16') == Decimal('1830.15')
=========================== short test summary info ============================
FAILED tests/test_statements.py::test_closing_balance[3] - AssertionError: st...
1 failed, 5 passed, 14 deselected in 5.41s"""
