"""Turns 37 to 46: the statements, a golden test that still fails, and the last request, which stays open."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

from datetime import date

from scripts.samples import ledger_output as output
from scripts.samples.english.outputs import LAST_FAILURE, LAST_RUN, REVIEW
from scripts.samples.english.plan import plan
from scripts.samples.english.statements import migrate
from scripts.samples.english.tests_written import TOOL_STATEMENT
from scripts.samples.telling import Telling

TEST = ".venv/bin/python -m pytest -q"
PATH = "ledger/statements.py"


def tell(t: Telling) -> None:
    """Tell these turns."""
    _review(t)
    _where(t)
    migrate(t)
    _golden_fails(t)
    _reversals(t)
    _export(t)
    _printed(t)
    _last_request(t)


def _review(t: Telling) -> None:
    t.user(REVIEW)
    t.reply(
        "",
        t.search(r"_announce|WriteSession|next_seq", "ledger"),
        t.read("ledger/importer.py", 52, 40),
        t.read("ledger/accounts.py"),
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


def _where(t: Telling) -> None:
    t.user("How many calls of LegacyStore are left?")
    t.reply("", t.search(r"LegacyStore|legacy\.store", "ledger"))
    t.reply("Only `ledger/statements.py` and the old package itself are left.", t.read(PATH))
    t.reply(
        "Nine calls in `ledger/statements.py`: four `fetch_row`, two `put_row`, two `fetch_keys` and one `fetch_entries`. "
        "`_keep` writes a statement and its lines together, so it needs one session for all of them.",
        thinking="_original uses fetch_entries with until. scan with the same until and order, or just a lookup by reference.",
    )


def _golden_fails(t: Telling) -> None:
    t.user("and the other one?")
    t.reply(
        "I look at the test, and at how a statement is made.",
        t.read("tests/test_statements.py"),
        t.read(PATH, 76, 72),
        thinking=(
            "test_closing_balance[3], and test_opening_is_last_closing[4], which is the same number. April, May and June "
            "close as they should. So a cent appears in March and disappears again in April. What is in April? The "
            "reversals: two card payments of the trip were reversed, the hotel among them. A reversal takes back what its "
            "original booked, with the same wrong rate if it is wrong. So the cent hangs on an entry that is reversed."
        ),
    )
    t.reply(
        "Only March is off, and with it the opening of April. From the reversals in April on everything agrees again, so "
        "the cent hangs on an entry that is reversed later."
    )
    t.user("Is it the order again?")
    t.reply(
        "I write a small tool that prints both statements side by side, so that I need not guess.",
        t.write("tools/statement.py", TOOL_STATEMENT),
        t.run(
            ".venv/bin/python -m tools.statement --compare 4711 2025-03",
            MARCH.text(),
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
        "It might be that reversed postings are converted with the rate of the reversal's day instead of the original's. "
        "I have not tested that yet, so take it as a guess.",
        thinking=(
            "_booked takes the original's day for a reversal, through _original. That part I have changed: a scan with "
            "until=reversal.value_date. It should find the original, its value date is earlier. But the difference is in "
            "March already, at the original itself, which is no reversal. Unless the golden statement was made after the "
            "reversal, by a program that looks at it the other way round. I don't know. No more guesses without a test."
        ),
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
    t.reply("", t.run(".venv/bin/python -m tools.statement --compare 4711 2025-04", APRIL.text(), 1, 2.7))
    t.reply("April begins with the wrong cent of March; from the reversal of the hotel on, both agree.")
    t.user("And May, so that we see all three.")
    t.reply("", t.run(".venv/bin/python -m tools.statement --compare 4711 2025-05", MAY.text(), seconds=2.8))
    t.reply("May agrees in all 88 lines.")
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
        "",
        t.read(PATH),
        t.read("ledger/postings.py"),
        thinking=(
            "The last request: find the cause of test_closing_balance[3], fix it in the code, then the open steps: remove "
            "the last imports and ledger/legacy/, then the docs and the changelog. Rules that hold: the public interface "
            "stays as it is, Python 3.9, nothing is pushed, the golden files are not edited. I was wrong three times in "
            "this session by guessing first, so I read both files as they are now before I form an opinion, then I run "
            "the failing test alone, and only then I look at the rates of the two days."
        ),
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
        line=49,
        command=f"{TEST} tests/test_statements.py -k closing_balance",
    )
    t.reply(
        "The test still fails with the same message. Next I run `_booked` for the hotel entry with both days and see "
        "which rate the golden statement was made with; only then do I change `_original`.",
        plan(t, doing=5),
        thinking="Keep the plan as it is: statements in progress. Do not guess again; measure the rate.",
    )
    t.reply("The statements are the step in progress; removing the old package and the docs come after it.")


REVIEWED = output.passed(
    ("tests/test_accounts.py", 31), ("tests/test_importer.py", 29), ("tests/test_shared.py", 10), seconds=4.06
)


NAMED = "account 4711, statement {}: golden and made"
MARCH = output.Table(41, 98, NAMED.format("2025-03"), (46, 98), hotel=46, closing="1830.15", old="golden")
APRIL = output.Table(
    42, 84, NAMED.format("2025-04"), (0, 37), first=2978, start=date(2025, 4, 1), opening="1790.45", old="golden"
)
MAY = output.Table(43, 88, NAMED.format("2025-05"), first=3290, start=date(2025, 5, 2), opening="2014.80", old="golden")
