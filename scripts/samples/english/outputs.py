"""Longer texts of the English story: failed test runs, and the review that the user pastes."""

# ruff: noqa: E501 - printed lines are as long as they are

from __future__ import annotations

ACCOUNTS_FAILED = """\
tests/test_accounts.py ......F....F.........F.....F...                   [100%]

=================================== FAILURES ===================================
________________________________ test_open_and_find _____________________________
tests/test_accounts.py:41: in test_open_and_find
    found = find_account("4711")
ledger/accounts.py:63: in find_account
    raise UnknownAccount("no account {}".format(number))
E   ledger.accounts.UnknownAccount: no account 4711
_________________________________ test_set_limit ________________________________
tests/test_accounts.py:77: in test_set_limit
    account = set_limit("4711", Decimal("250.00"))
E   ledger.accounts.UnknownAccount: no account 4711
=========================== short test summary info ============================
FAILED tests/test_accounts.py::test_open_and_find - ledger.accounts.UnknownAc...
FAILED tests/test_accounts.py::test_set_limit - ledger.accounts.UnknownAccoun...
FAILED tests/test_accounts.py::test_close_account - ledger.accounts.UnknownAc...
FAILED tests/test_accounts.py::test_rename_owner - ledger.accounts.UnknownAcc...
4 failed, 27 passed in 1.71s"""

ADAPTER_FAILED = """\
tests/test_accounts.py FFFF..F....F..F......F.....F...                   [100%]

=================================== FAILURES ===================================
________________________________ test_open_and_find _____________________________
tests/test_accounts.py:38: in test_open_and_find
    open_account("4711", "Ada Brandt")
ledger/accounts.py:55: in open_account
    _remember_owner(store, account)
ledger/accounts.py:136: in _remember_owner
    store.put_row("owner", _owner_key(account.owner), {"numbers": ",".join(sorted(numbers))})
ledger/records/adapter.py:34: in put_row
    with self.begin() as session:
/usr/lib/python3.9/contextlib.py:119: in __enter__
    return next(self.gen)
ledger/records/store.py:100: in begin
    raise SessionError("a write session is already open")
E   ledger.records.store.SessionError: a write session is already open
=========================== short test summary info ============================
FAILED tests/test_accounts.py::test_open_and_find - ledger.records.store.Sess...
FAILED tests/test_accounts.py::test_open_twice - ledger.records.store.Session...
FAILED tests/test_accounts.py::test_owner_has_two - ledger.records.store.Sess...
FAILED tests/test_accounts.py::test_set_limit - ledger.records.store.SessionE...
9 failed, 22 passed in 2.03s"""

RECORDS_FAILED = """\
tests/test_records.py ...................F.................             [100%]

=================================== FAILURES ===================================
_______________________________ test_scan_streams _______________________________
tests/test_records.py:203: in test_scan_streams
    assert peak < 64 * 1024, "scan held {} bytes for {} records".format(peak, count)
E   AssertionError: scan held 9437184 bytes for 20000 records
E   assert 9437184 < (64 * 1024)
=========================== short test summary info ============================
FAILED tests/test_records.py::test_scan_streams - AssertionError: scan held 9...
1 failed, 36 passed in 2.61s"""

LAST_FAILURE = "E   AssertionError: statement 2025-03 of account 4711: expected closing balance 1830.15, got 1830.16"

FIRST_RUN = f"""\
tests/test_statements.py .....F....F...F...                              [100%]

=================================== FAILURES ===================================
________________________ test_opening_is_last_closing[4] ________________________
tests/test_statements.py:41: in test_opening_is_last_closing
    assert statement.opening == opening_balances(travelled)["2025-{{:02d}}".format(month)]
E   AssertionError: assert Decimal('1830.16') == Decimal('1830.15')
____________________________ test_closing_balance[3] ____________________________
tests/test_statements.py:49: in test_closing_balance
    assert statement.closing == expected, "statement {{}} of account {{}}: expected closing balance {{}}, got {{}}".format(
{LAST_FAILURE}
E   assert Decimal('1830.16') == Decimal('1830.15')
________________________________ test_made_once _________________________________
tests/test_statements.py:56: in test_made_once
    again = public.statement_for(travelled, 2025, 3)
ledger/statements.py:238: in _line_from_row
    return Line(
E   TypeError: __init__() got an unexpected keyword argument 'booked_amount'
=========================== short test summary info ============================
FAILED tests/test_statements.py::test_opening_is_last_closing[4] - AssertionE...
FAILED tests/test_statements.py::test_closing_balance[3] - AssertionError: st...
FAILED tests/test_statements.py::test_made_once - TypeError: __init__() got a...
3 failed, 15 passed in 5.92s"""

LAST_RUN = f"""\
tests/test_statements.py ..F...                                          [100%]

=================================== FAILURES ===================================
____________________________ test_closing_balance[3] ____________________________
tests/test_statements.py:49: in test_closing_balance
    assert statement.closing == expected, "statement {{}} of account {{}}: expected closing balance {{}}, got {{}}".format(
{LAST_FAILURE}
E   assert Decimal('1830.16') == Decimal('1830.15')
=========================== short test summary info ============================
FAILED tests/test_statements.py::test_closing_balance[3] - AssertionError: st...
1 failed, 5 passed, 12 deselected in 5.41s"""

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
