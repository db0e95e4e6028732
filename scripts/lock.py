"""Write the lock files from the dependency groups of pyproject.toml: `make lock`.

The files hold exact versions and hashes, the build backend too, and no address of an index.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Written by `make lock` from pyproject.toml ({what}). Do not edit by hand.\n"
OPTIONS = (
    "--generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --quiet "
    "--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options"
).split()


def requirements(*groups: str, project: bool) -> list[str]:
    """The requirements of the project itself (where asked for) and of its dependency groups."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    out: list[str] = list(data["project"]["dependencies"]) if project else []
    for group in groups:
        out += data["dependency-groups"][group]
    return out


def lock(target: Path, what: str, lines: list[str], upgrade: list[str]) -> None:
    """Resolve `lines` and write `target`; versions already locked stay unless `upgrade` says otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.in")
        wanted.write_text("\n".join(lines) + "\n", "utf-8")
        resolved = Path(folder, "locked.txt")
        if target.exists():
            resolved.write_text(target.read_text("utf-8"), "utf-8")
        command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *upgrade]
        subprocess.run([*command, "--output-file", str(resolved), str(wanted)], check=True)
        target.write_text(HEADER.format(what=what) + resolved.read_text("utf-8"), "utf-8")


def main() -> None:
    """Write both files; arguments (such as --upgrade) go to pip-compile."""
    folder = ROOT / "requirements"
    lock(folder / "dev.txt", "the project and its group dev", requirements("dev", project=True), sys.argv[1:])
    lock(folder / "share.txt", "the group share", requirements("share", project=False), sys.argv[1:])


if __name__ == "__main__":
    main()
