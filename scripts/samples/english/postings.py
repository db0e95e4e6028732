"""The edits that move the postings to records."""

# ruff: noqa: E501 - the texts of the story keep their own lines

from __future__ import annotations

from scripts.samples.telling import Telling

PATH = "ledger/postings.py"


def migrate(t: Telling) -> None:
    """Three replies of edits: writing, reading, and the rows."""
    _writing(t)
    _reading(t)
    _rows(t)


def _writing(t: Telling) -> None:
    t.reply(
        "I begin with the writing side.",
        t.edit(
            PATH,
            "from ledger.legacy.store import LegacyStore\n",
            "from ledger.records.shared import entry_key, next_seq, records\nfrom ledger.records.store import WriteSession\n",
        ),
        t.edit(PATH, OLD_POST, NEW_POST),
        thinking=(
            "The events must go out after the session ended without an error, else a listener could read what is not "
            "on disk yet. So _announce comes after the with block."
        ),
    )


def _reading(t: Telling) -> None:
    t.reply(
        "Now everything that reads.",
        t.edit(
            PATH,
            '    rows = LegacyStore.shared().fetch_entries("entry", account, since=since, until=until)\n',
            '    rows = records().scan("entry", account + "/", since=since, until=until)\n',
        ),
        t.edit(
            PATH,
            '        for row in LegacyStore.shared().fetch_entries("entry", account):\n            if row["reference"] in wanted:\n',
            '        for row in records().scan("entry", account + "/"):\n            if row["reference"] in wanted:\n',
        ),
        t.edit(
            PATH,
            '    for row in LegacyStore.shared().fetch_entries("entry", account, since=first, until=last):\n'
            "        entry = _from_row(row)\n",
            "    for entry in get_entries(account, since=first, until=last):\n",
        ),
        t.edit(
            PATH,
            '    for row in LegacyStore.shared().fetch_entries("entry", account):\n        if row["reference"] == reference:\n',
            '    for row in records().scan("entry", account + "/"):\n        if row["reference"] == reference:\n',
        ),
        thinking="Keys are ACCOUNT/SEQ, so the prefix needs the slash, or 471 would also find 4711.",
    )


def _rows(t: Telling) -> None:
    t.reply(
        "",
        t.edit(
            PATH,
            '        "reverses": posting.reverses,\n    }\n',
            '        "reverses": posting.reverses,\n        "seq": seq,\n    }\n',
        ),
        t.edit(
            PATH,
            "def _to_row(posting: Posting) -> Dict[str, Any]:\n",
            "def _to_row(posting: Posting, seq: int) -> Dict[str, Any]:\n",
        ),
        t.edit(
            PATH,
            '        amount=Decimal(row["amount"]),\n        currency=row["currency"],\n'
            '        value_date=date.fromisoformat(row["value_date"]),\n',
            '        amount=row["amount"],\n        currency=row["currency"],\n        value_date=row["value_date"],\n',
        ),
        t.edit(PATH, '        seq=int(row["seq"]),\n', '        seq=row["seq"],\n'),
        thinking="Rows are typed; seq is stored in the record now, because there is no row number to take it from.",
    )


OLD_POST = """\
    wanted = list(postings)
    _check(wanted)
    store = LegacyStore.shared()
    written: List[Posting] = []
    with store.transaction():
        for posting in wanted:
            account = find_account(posting.account)
            _check_account(account, posting)
            reference = posting.reference or uuid.uuid4().hex
            posting = replace(posting, reference=reference)
            seq = store.put_row("entry", posting.account, _to_row(posting), day=posting.value_date)
            written.append(replace(posting, seq=seq))
    for posting in written:
        _balances.forget(posting.account)
        publish("ledger.posted", account=posting.account, seq=posting.seq, at=now())
    log.info("posted %d entries, first reference %s", len(written), written[0].reference)
    return written
"""

NEW_POST = '''\
    with records().begin() as session:
        written = _post(session, postings)
    _announce(written)
    return written


def _post(session: WriteSession, postings: Iterable[Posting]) -> List[Posting]:
    """As `post`, in a session that is open; the caller calls `_announce` when the session has ended."""
    wanted = list(postings)
    _check(wanted)
    written: List[Posting] = []
    for posting in wanted:
        account = find_account(posting.account)
        _check_account(account, posting)
        seq = next_seq()
        posting = replace(posting, reference=posting.reference or uuid.uuid4().hex, seq=seq)
        session.put("entry", entry_key(posting.account, seq), _to_row(posting, seq))
        written.append(posting)
    return written


def _announce(written: List[Posting]) -> None:
    """Forget the balances and tell the listeners, once the entries are on disk."""
    for posting in written:
        _balances.forget(posting.account)
        publish("ledger.posted", account=posting.account, seq=posting.seq, at=now())
    log.info("posted %d entries, first reference %s", len(written), written[0].reference)
'''
