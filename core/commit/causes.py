"""The true cause of a failure in plain words, with the advice that fits it and no other."""

from __future__ import annotations

import errno
import sqlite3

_OPERATING_SYSTEM = {
    errno.ENOSPC: "no space left on the disk: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "the system does not permit it (a protected or append-only file, or not yours)",
    errno.EIO: "the disk reported an input/output error: check the disk before you try again",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.ENOENT: "there is no such file or folder",
    errno.EMFILE: "too many files are open",
    errno.ETXTBSY: "the file is being executed",
}

_SQLITE = {
    "SQLITE_FULL": "no space left on the disk: free some space and try again",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened or created",
    "SQLITE_BUSY": "another program holds it: try again",
    "SQLITE_LOCKED": "another program holds it: try again",
    "SQLITE_CORRUPT": "it is damaged: move it away to start a new one",
    "SQLITE_NOTADB": "it is no SQLite file: move it away to start a new one",
    "SQLITE_IOERR": "the disk reported an input/output error: check the disk before you try again",
}


def cause_of(error: BaseException) -> str:
    """One clause, without a path."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.errno is not None:
        return _OPERATING_SYSTEM.get(error.errno) or (error.strerror or str(error))
    if isinstance(error, sqlite3.Error):
        # Extended names such as SQLITE_IOERR_WRITE begin with the plain one.
        name = str(getattr(error, "sqlite_errorname", ""))
        for plain, words in _SQLITE.items():
            if name.startswith(plain):
                return words
    return str(error) or type(error).__name__
