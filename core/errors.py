"""What can go wrong in a way that a person should be told in one line."""

from __future__ import annotations


class SeamlineError(Exception):
    """A refusal or failure whose message says what, where and what to do next, in one line."""


class ClientRefuses(SeamlineError):
    """The real client would not load this session; the message gives the reason."""


class NotASession(SeamlineError):
    """No known agent wrote this file."""


class Stale(SeamlineError):
    """The session is no longer what the proposal was made for."""


class EditRefused(SeamlineError):
    """An edit of a proposal that the format or the rules do not allow."""


class CommitRefused(SeamlineError):
    """A commit that was not begun, or was taken back; the session is as it was."""
