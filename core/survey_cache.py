"""What was found out of session files, kept as long as they stay as they were; it can always be found out again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from core.finding import Place
from core.surveying import RULES, Survey

NAME = "sessions.sqlite3"

_TABLE = """
CREATE TABLE IF NOT EXISTS survey (
  path BLOB PRIMARY KEY, size INTEGER, changed INTEGER, inode INTEGER, rules INTEGER, clients TEXT, told BLOB
) WITHOUT ROWID
"""


class SurveyCache:
    """A file in our cache folder. Where it can't be read or written, nothing is known and nothing is kept."""

    def __init__(self, folder: Path, clients: str = "") -> None:
        """`clients`: the installed clients' versions: with another one a view may be another."""
        self._path = folder / NAME
        self._clients = clients
        self._decoder = msgspec.msgpack.Decoder(Survey)

    def known(self) -> dict[tuple[str, int, int, int], Survey]:
        """What is known, by path, size, time of change and inode."""
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as database:
                rows = database.execute(
                    "SELECT path, size, changed, inode, told FROM survey WHERE rules = ? AND clients = ?",
                    (RULES, self._clients),
                ).fetchall()
            decode = self._decoder.decode
            return {(_text(path), size, changed, inode): decode(told) for path, size, changed, inode, told in rows}
        except (sqlite3.Error, msgspec.DecodeError, msgspec.ValidationError, OSError, TypeError):
            return {}

    def keep(self, found: Iterable[tuple[Place, Survey]]) -> None:
        """Keep what was found out; a damaged file is begun anew."""
        rows = [
            (_bytes(p.path), p.size, p.changed, p.inode, RULES, self._clients, msgspec.msgpack.encode(survey))
            for p, survey in found
        ]
        if not rows:
            return
        for attempt in range(2):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(self._path, timeout=1)) as database, database:
                    database.execute("PRAGMA journal_mode=WAL")
                    database.execute(_TABLE)
                    database.executemany("INSERT OR REPLACE INTO survey VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                return
            except sqlite3.OperationalError:
                return
            except sqlite3.DatabaseError:
                if attempt == 0:
                    self._path.unlink(missing_ok=True)
            except OSError:
                return

    @staticmethod
    def key(place: Place) -> tuple[str, int, int, int]:
        """Under what a file's survey is known."""
        return str(place.path), place.size, place.changed, place.inode


def _bytes(path: Path) -> bytes:
    return str(path).encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
