"""Options that several commands share, and what they come to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.opening import Opened
    from core.resume import Overrides

Subparsers = argparse._SubParsersAction  # pyright: ignore[reportPrivateUsage]


def add_command(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    examples: str,
    description: str = "",
) -> argparse.ArgumentParser:
    """A command's parser, with its examples at the end of its help."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description or f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_path(parser: argparse.ArgumentParser, json: str = "") -> None:
    """PATH, and with `json` (the schema's name) the option `--json`."""
    parser.add_argument("path", metavar="PATH", help="a session file, or a folder that holds one")
    if json:
        parser.add_argument("--json", action="store_true", help=f"print JSON, schema {json}")
        parser.set_defaults(schema=json)


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """How the session would be resumed, where the session itself or the machine should not decide."""
    group = parser.add_argument_group("how the session would be resumed (default: as the session says)")
    group.add_argument("--model", metavar="NAME", help="the model, or provider/model")
    group.add_argument("--wire", metavar="NAME", help="the API that the request is made for")
    group.add_argument(
        "--client-version", metavar="X.Y.Z", help="of the agent's client; default: the one installed, else the newest"
    )
    group.add_argument("--window", type=window, metavar="TOKENS", help="the model's context size")
    group.add_argument(
        "--leaf",
        metavar="ENTRY",
        help="the entry at which the view ends; default: the client's choice; of view and stats, `list` shows others",
    )


def window(text: str) -> int:
    """A context size in tokens, from the command line."""
    try:
        number = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens") from None
    if number <= 0:
        raise argparse.ArgumentTypeError(f"a window of {number} tokens holds nothing")
    return number


def overrides(arguments: argparse.Namespace) -> Overrides:
    """What the view options say."""
    from core.resume import Overrides

    return Overrides(
        client_version=arguments.client_version,
        model=arguments.model,
        wire=arguments.wire,
        window=arguments.window,
    )


def session_path(arguments: argparse.Namespace) -> Path:
    """The session file that PATH names. Raises WrongUsage, NotASession, SeveralSessions."""
    from inspector.opening import session_at

    return session_at(Path(arguments.path))


def opened_session(arguments: argparse.Namespace) -> Opened:
    """The session that PATH names, opened as the view options say. Raises SeamlineError, OSError."""
    from inspector.opening import open_path

    return open_path(Path(arguments.path), overrides(arguments), leaf=arguments.leaf)
