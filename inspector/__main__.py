"""The command line: reads it, runs one command, and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from core.errors import SeamlineError
from inspector.commands import COMMANDS
from inspector.commands.output import DONE, FINDING, WRONG_USAGE, refuse

COLLECTED_AFTER = 20_000
"""New objects after which the garbage collector looks for cycles."""

INTERRUPTED = 130
"""What shells expect of a program that was stopped with Ctrl-C."""

EXAMPLES = """examples:
  seamline                                   the sessions found on this machine
  seamline session.jsonl                     open the inspector
  seamline view session.jsonl --tokens       what the model would be sent, with tokens
  seamline stats session.jsonl               what fills the window
  seamline plan session.jsonl                propose a compaction; writes nothing
  seamline compact session.jsonl             propose, show, ask, write
  seamline undo session.jsonl                take the last one back, byte for byte

`seamline COMMAND --help` has more of each. Exit codes: 0 done; 1 a finding, a refusal or a failed check;
2 wrong usage. Documents and source: see README.md.
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors say in the first line what is wrong and what to do."""

    words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        command = self.prog.partition(" ")[2] or None
        schema = self.get_default("schema") or "error/1"
        asked = argparse.Namespace(command=command, schema=schema, json="--json" in self.words)
        sys.exit(refuse(asked, f"{message}: see `{self.prog} --help`", WRONG_USAGE))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `seamline` with these words and return the exit code. Without any, it is the process's own program."""
    if argv is not None:
        return _main(list(argv))
    # A session is a million small values without cycles. To look for some each time that 700 more were made, and again
    # and again when the process ends, took a tenth of its time.
    gc.set_threshold(COLLECTED_AFTER)
    code = _main(sys.argv[1:])
    gc.freeze()
    return code


def _main(words: list[str]) -> int:
    _make_streams_robust()
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("seamline: stopped", file=sys.stderr)
        return INTERRUPTED


def _run(words: list[str]) -> int:
    arguments: argparse.Namespace | None = None
    try:
        arguments = _parse(words)
        code: int = arguments.run(arguments)
        return code
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("SEAMLINE_DEBUG"):
            raise
        return _refused(arguments, error)


def _parse(words: list[str]) -> argparse.Namespace:
    """The options; where the first word is no command, it is `open` that is meant."""
    if not words or (words[0] not in COMMANDS and words[0] not in ("-h", "--help", "--version")):
        words = ["open", *words]
    Parser.words = words
    parser = Parser(
        prog="seamline",
        description="See an AI coding agent's context as the model sees it, and cut it at the seams.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    # One command needs only its own options: the others are not even imported.
    for name in COMMANDS if words[0] in ("-h", "--help") else words[:1] if words[0] in COMMANDS else ():
        import_module(f"inspector.commands.{name}").register(subparsers)
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        # argparse itself would say it of the whole program, whose help does not list the command's options
        subparsers.choices[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


class Version(argparse.Action):
    """`--version`, looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"seamline {version('seamline')}")
        sys.exit(DONE)


def _make_streams_robust() -> None:
    """Whatever the locale, a character that cannot be encoded is escaped and never ends the program.

    A stream that the caller has closed is read as empty and written to nowhere. They are opened in this order because
    each gets the lowest free number, so that no session is ever opened as number 1 or 2.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _refused(arguments: argparse.Namespace | None, error: Exception) -> int:
    from inspector.opening import SeveralSessions, WrongUsage

    if isinstance(error, SeveralSessions):
        return refuse(arguments, str(error), WRONG_USAGE, [found.path for found in error.found])
    return refuse(arguments, _said(error), WRONG_USAGE if isinstance(error, WrongUsage) else FINDING)


def _said(error: Exception) -> str:
    """What went wrong, in one line for a person."""
    if isinstance(error, SeamlineError):
        return str(error)
    if isinstance(error, OSError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        what = error.strerror or type(error).__name__
        return f"{where}{what}: check that the path is right and may be read and written"
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: the installation is incomplete: install seamline anew"
    return f"internal error, {type(error).__name__}: {error}: run again with SEAMLINE_DEBUG=1 and report it"


if __name__ == "__main__":
    sys.exit(main())
