"""`seamline config`: every setting, its value and where it came from."""

from __future__ import annotations

import argparse

from inspector.commands.options import add_command

EXAMPLES = """  seamline config --show
  seamline config --show --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "config",
        "show every setting, its value and where it came from",
        EXAMPLES,
        "Show every setting, its value and where it came from. Its file, in TOML, is named first.",
    )
    parser.add_argument("--show", action="store_true", help="print them (the default)")
    parser.add_argument("--json", action="store_true", help="print JSON, schema config/1")
    parser.set_defaults(run=run, schema="config/1")


def run(arguments: argparse.Namespace) -> int:
    from core.config import settings_in_force
    from inspector.commands.output import print_json, print_lines
    from inspector.configuring import config, config_path
    from inspector.text import one_line

    path = config_path()
    found = list(settings_in_force(config()))
    if arguments.json:
        told = [{"name": one.name, "value": one.value, "source": one.source} for one in found]
        print_json({"schema": "config/1", "path": str(path), "exists": path.exists(), "settings": told})
        return 0
    width = max(len(one.name) for one in found)
    print_lines([f"{path}: {'read' if path.exists() else 'not there: the defaults hold'}", ""])
    print_lines(f"{one.name:<{width}}  {one.value:>10,.10g}  {one_line(one.source)}" for one in found)
    return 0
