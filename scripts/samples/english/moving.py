"""Turns 27 to 36: the importer, the backfill of the local database, and a file with notes."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

from scripts.samples import ledger_output as output
from scripts.samples.english.plan import plan
from scripts.samples.english.sources import NOTES
from scripts.samples.english.tools_written import TEST_BACKFILL, TOOL_BACKFILL
from scripts.samples.telling import Telling

TEST = ".venv/bin/python -m pytest -q"
PATH = "ledger/importer.py"
DRY = ".venv/bin/python -m ledger.importer --dry-run var/inbox/kontist-2025-05.csv"
FAMILIES = {
    "account": 61,
    "owner": 48,
    "entry": 4312,
    "rate": 9130,
    "statement": 330,
    "line": 3904,
    "import": 1988,
    "import-report": 41,
}


def tell(t: Telling) -> None:
    """Tell these turns."""
    _importer(t)
    _dry_run(t)
    _golden(t)
    _backfill(t)
    _apply(t)
    _verify(t)
    _notes(t)


def _importer(t: Telling) -> None:
    t.user("Now the importer.")
    t.reply("", t.read(PATH), t.read("ledger/postings.py", 100, 62), thinking="Where does it nest? import_bank_file.")
    t.reply(
        "The importer wrote its own row inside the same transaction as the postings. With `_post` it can do both in one "
        "session.",
        t.edit(
            PATH,
            "from ledger.legacy.store import LegacyStore\nfrom ledger.postings import Posting, PostingRejected, forget_balances, post\n",
            "from ledger.postings import Posting, PostingRejected, _announce, _post, forget_balances\n"
            "from ledger.records.shared import records\nfrom ledger.records.store import RecordStore\n",
        ),
        t.edit(
            PATH,
            "    store = LegacyStore.shared()\n    for line in read_lines(path, currency, report):\n"
            '        if store.fetch_row("import", line.fingerprint) is not None:\n',
            "    store = records()\n    for line in read_lines(path, currency, report):\n"
            '        if store.get("import", line.fingerprint) is not None:\n',
        ),
        t.edit(
            PATH,
            "            with store.transaction():\n                post(_postings(line))\n"
            '                store.put_row("import", line.fingerprint, {"file": str(path), "line": line.number}, day=line.day)\n',
            "            with store.begin() as session:\n                written = _post(session, _postings(line))\n"
            '                seen = {"file": str(path), "line": line.number, "value_date": line.day}\n'
            '                session.put("import", line.fingerprint, seen)\n            _announce(written)\n',
        ),
        thinking="_announce after the session, inside try is fine: it raises nothing that is caught here.",
    )
    t.reply(
        "",
        t.edit(
            PATH,
            "def _remember(store: LegacyStore, report: ImportReport) -> None:\n    store.put_row(\n"
            '        "import-report",\n        Path(report.file).name,\n'
            '        {"posted": str(report.posted), "known": str(report.known), "rejected": str(len(report.rejected))},\n    )\n',
            "def _remember(store: RecordStore, report: ImportReport) -> None:\n    figures = {\n"
            '        "posted": report.posted,\n        "known": report.known,\n        "rejected": len(report.rejected),\n    }\n'
            '    with store.begin() as session:\n        session.put("import-report", Path(report.file).name, figures)\n',
        ),
        t.edit(
            PATH,
            '    row = LegacyStore.shared().fetch_row("import-report", name)\n    if row is None:\n        return None\n'
            '    return ImportReport(name, posted=int(row["posted"]), known=int(row["known"]))\n',
            '    row = records().get("import-report", name)\n    if row is None:\n        return None\n'
            '    return ImportReport(name, posted=row["posted"], known=row["known"])\n',
        ),
        t.run(f"{TEST} tests/test_importer.py", IMPORTER_PASSED, seconds=2.4),
    )
    t.reply("The importer runs on records: 29 tests pass.")


def _dry_run(t: Telling) -> None:
    t.user("Do a dry run with the file of May as well, the tests only have tiny files.")
    t.reply("", t.run(DRY, output.imported(21, 104), seconds=1.6))
    t.reply(
        "The dry run reads all 104 lines and rejects none. Lines that were imported before are recognised by their "
        "fingerprint, so the fingerprints did not change with the store."
    )
    t.user("Also the one of Skandia, they have tabs and another date format.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python -m ledger.importer --dry-run var/inbox/skandia-2025-05.txt --currency SEK",
            output.imported(22, 96).replace(
                "kontist-2025-05.csv: format kontist, EUR", "skandia-2025-05.txt: format skandia, SEK"
            ),
            seconds=1.5,
        ),
    )
    t.reply("Fine as well: 96 lines, none rejected.", plan(t, doing=4))


def _golden(t: Telling) -> None:
    t.user(
        "Good. Before you go on: never edit the files under tests/golden, they are what the bank printed. If a golden "
        "test fails, the code is wrong."
    )
    t.fact("constraints", "never edit the files under tests/golden")
    t.reply("Understood: the golden files stay as they are.")
    t.user("Yes. Commit the importer. Then we need the backfill that the docs speak of; nobody has written it yet.")


def _backfill(t: Telling) -> None:
    t.reply(
        "",
        t.run(
            "git commit -am 'importer: one session for postings and import record' && git show --stat --oneline",
            output.committed(
                "records",
                "e77ab05",
                "importer: one session for postings and import record",
                ("ledger/importer.py", 24, 17),
            ),
            seconds=0.5,
        ),
        t.write("tools/backfill.py", TOOL_BACKFILL),
        t.write("tests/test_backfill.py", TEST_BACKFILL),
        t.run(f"{TEST} tests/test_backfill.py", output.passed(("tests/test_backfill.py", 8), seconds=1.12)),
        thinking=(
            "What the backfill must do: every family, typed values, entries under a key of their own with the old "
            "sequence number, so that ORDER gives what LegacyStore gave. It has to be safe to run twice: compare before "
            "writing. Without --apply it only says what it would do; --verify compares both sides, also for records that "
            "are only in the new store. Batches of 250, one session each, so that a failure in the middle loses at most "
            "one batch. The checksum of each batch goes into the log, so that two runs can be compared later. Rows of "
            "`owner` have only text, they need no rule. Deleted rows are not copied: fetch_keys leaves them out; the "
            "auditors keep the old file anyway."
        ),
    )
    t.reply(
        "The backfill is written, with eight tests: typed values, one key for each entry, safe to run twice, and "
        "`--verify` finds records that differ or are missing on one side. Without `--apply` it only tells what it would "
        "do; deleted rows are not copied, since the auditors keep `var/ledger.db` itself."
    )


def _apply(t: Telling) -> None:
    t.user("Run it on the local database. First without --apply.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python tools/backfill.py",
            output.backfilled(30, FAMILIES, "would "),
            seconds=12.4,
        ),
    )
    t.reply("It would copy 19,814 records in eight families, and nothing conflicts.")
    t.user("Then do it.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python tools/backfill.py --apply",
            output.backfilled(31, FAMILIES, "copied"),
            seconds=41.0,
        ),
        thinking="It writes var/records only; it is the local copy, so that is fine. The old file is only read.",
    )
    t.reply("The backfill copied eight families with 19,814 records; no conflicts.")


def _verify(t: Telling) -> None:
    t.user("And verify it.")
    t.reply(
        "",
        t.run(
            ".venv/bin/python tools/backfill.py --verify",
            output.backfilled(32, FAMILIES, "equal "),
            seconds=38.5,
        ),
    )
    t.reply(
        "Verified: `tools/backfill.py --verify` finds all 19,814 records equal in both stores.",
        plan(t, doing=5),
    )
    t.fact(
        "verified_findings",
        "Verified: `tools/backfill.py --verify` finds all 19,814 records equal in both stores.",
        command=".venv/bin/python tools/backfill.py --verify",
    )


def _notes(t: Telling) -> None:
    t.user(
        "This gets long. Write down in NOTES.md what the rules are, what was decided, what is done and what does not "
        "work, so that somebody else could go on."
    )
    t.reply(
        "",
        t.write("NOTES.md", NOTES),
        thinking="Short and exact: rules in the user's words, decisions, failed attempts, next steps.",
    )
    t.reply("Written to NOTES.md. I keep it up to date after each step.")
    t.user("👍")
    t.fact("courtesies", "👍")
    t.reply("Next are the statements.")


IMPORTER_PASSED = output.passed(("tests/test_importer.py", 29), seconds=2.18)
