"""Which shell commands can be run again for the same kind of answer, changing nothing that matters."""

from __future__ import annotations

import re

_READERS = (
    "ls|cat|head|tail|grep|egrep|rg|ag|find|fd|tree|wc|file|stat|du|df|ps|env|pwd|which|date|uname|sort|uniq|cut|tr",
    "sed -n|diff|jq|nl|column|less|cd|echo|true|test|printenv|id|whoami|hostname|type|command -v",
    "git (?:status|diff|log|show|blame|grep|ls-files|rev-parse|describe)",
)
_CHECKERS = (
    "pytest|python3? -m (?:pytest|unittest|mypy|ruff|flake8|pyflakes|compileall)|tox|nox|ruff check|mypy",
    r"make (?:test|check|lint)|(?:npm|pnpm|yarn|bun) (?:run )?(?:test|lint|typecheck)|npx (?:jest|vitest|tsc|eslint)",
    r"pyright|flake8|eslint|tsc|jest|vitest|cargo (?:test|check|clippy)|go (?:test|vet)|ctest|phpunit|rspec",
    r"mvn (?:-\S+ )*(?:test|verify)|(?:\./)?gradlew? (?:-\S+ )*(?:test|check)|\S+/bin/(?:pytest|python3? -m pytest)",
)
_REPEATABLE = re.compile(rf"(?:{'|'.join(_READERS + _CHECKERS)})(?:\s|$)")
_ASSIGNMENTS = re.compile(r"^(?:(?:[A-Za-z_]\w*=\S*|time|timeout \S+)\s+)*")
_HARMLESS_REDIRECTION = re.compile(r"[12&]?>{1,2}\s*/dev/null|2>&1")
_CHANGES = re.compile(r"[>`]|\$\(|\s-delete\b|\s-exec(?:dir)?\b|\s--fix\b|\s--write\b|\s-u\b|--snapshot-update")
_SEPARATORS = re.compile(r"&&|\|\||;|\||\n")


def repeatable(command: str) -> bool:
    """Whether every part of a shell command only reads or checks. In doubt: False."""
    plain = _HARMLESS_REDIRECTION.sub(" ", command)
    if _CHANGES.search(plain):
        return False
    parts = [part.strip() for part in _SEPARATORS.split(plain)]
    return all(_REPEATABLE.match(_ASSIGNMENTS.sub("", part)) for part in parts if part) and any(parts)
