"""Our copy of a file that is to be replaced, and what a new file takes over from the one whose place it takes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from pathlib import Path

from core.commit.causes import cause_of
from core.commit.held import Held, sync_folder
from core.errors import CommitRefused
from core.files import READ_SIZE

_CLONE = 0x40049409
"""FICLONE, Linux: share the blocks of another file until one of the two is written to (btrfs, XFS, bcachefs)."""

_NO_ATTRIBUTES = (errno.ENOTSUP, errno.ENODATA, errno.ENOSYS)


def backup_path(folder: Path, identity: str, number: int) -> Path:
    """Where the state folder keeps the old bytes of an operation's change."""
    return folder / "backups" / f"{identity}.{number}"


def beside(path: Path, identity: str, ending: str) -> Path:
    """A name in the same folder that no agent takes for a session, and that `recover` can work out again."""
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return path.parent / f".seamline-{identity}.{name}.{ending}"


def back_up(held: Held, backup: Path) -> None:
    """Copy a file into the state folder, durably; at no cost where the file system can share blocks.

    Raises CommitRefused, with the cause, where that fails: nothing is replaced without it.
    """
    try:
        backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            if not _cloned(descriptor, held):
                _copy(descriptor, held)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_folder(backup.parent)
    except OSError as error:
        raise CommitRefused(f"{backup.parent}: cannot keep a copy of the old session: {cause_of(error)}") from error


def _cloned(descriptor: int, held: Held) -> bool:
    try:
        fcntl.ioctl(descriptor, _CLONE, held.descriptor)
    except OSError:  # another file system, or one that cannot
        return False
    return True


def _copy(descriptor: int, held: Held) -> None:
    for offset in range(0, held.size(), READ_SIZE):
        view = memoryview(held.read(held.path, offset, READ_SIZE))
        while view:
            view = view[os.write(descriptor, view) :]


def dress(descriptor: int, like: int, mode: int) -> None:
    """Owner, permissions and extended attributes as the file `like` has them (both are descriptors).

    Raises CommitRefused where the owner or an attribute of the user's own cannot be kept, OSError.
    """
    old, new = os.fstat(like), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            raise CommitRefused("the new file could not belong to the owner of the old one: run as that user") from None
    os.fchmod(descriptor, mode)
    if hasattr(os, "listxattr"):
        _copy_attributes(descriptor, like)


def _copy_attributes(descriptor: int, like: int) -> None:
    try:
        names = os.listxattr(like)
    except OSError as error:
        if error.errno in _NO_ATTRIBUTES:
            return
        raise
    for name in names:
        try:
            os.setxattr(descriptor, name, os.getxattr(like, name))
        except OSError:
            # The system's own (security.selinux): a new file in this folder has the right ones already.
            if name.startswith(("user.", "system.")):
                raise
