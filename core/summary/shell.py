"""What a shell command line says about itself: tests, commits, searches, and the files that it changes by name."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

from core.summary.state import How

_TEST = re.compile(
    r"\b(?:pytest|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|gotestsum|swift test|mix test"
    r"|(?:npm|yarn|pnpm|bun)(?: run)? test|cargo (?:test|nextest)|go test|dotnet test|mvn (?:\S+ )*(?:test|verify)"
    r"|gradlew? (?:\S+ )*(?:test|check)|rake test|bazel test|make (?:\w+ )?(?:test|check)|run_?tests?(?:\.\w+)?)\b"
)
_MILESTONE = re.compile(
    r"\bgit (?:-\S+ (?:\S+ )?)*(?:commit|push|tag|merge|rebase|cherry-pick|revert)\b"
    r"|\b(?:npm|cargo|twine) (?:publish|upload)\b"
)
_TELLING_MORE = re.compile(r"(?<=\s)(?:-[vqxs]+|--verbose|--quiet|--exitfirst)(?=\s|$)")
_RED = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^(?:FAILED|--- FAIL|FAIL)\b", re.MULTILINE)
_RED_END = 400
"""Characters of a test run's end in which its result stands."""

_SEARCH = re.compile(r"(?:^|[|;&]\s*)(?:git grep|e?grep|rg|ag|diff|git diff|test|\[|which|command -v|cmp|pgrep)\b")
_SPLIT = re.compile(r"&&|\|\||[;|\n]")
_REMOVES = {"rm", "rmdir", "unlink"}
_CHANGES = {"touch", "truncate", "tee"}
_COPIES = {"cp", "ln", "install"}
_REDIRECT = re.compile(r"(?<![0-9&<>=-])>>?\s*(?![&>])([^\s;|&<>()]+)")
_ASSIGNED = re.compile(r"\w+=.*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?\n.*?^\s*\1\s*$", re.DOTALL | re.MULTILINE)


def is_test(command: str) -> bool:
    """Whether it runs tests."""
    return _TEST.search(command) is not None


def same_run(command: str) -> str:
    """What two runs of the same have in common: of tests, all but flags that only change how much is told (`-v`)."""
    plain = _TELLING_MORE.sub("", command) if is_test(command) else command
    return " ".join(plain.split())


def tells_red(output: str) -> bool:
    """Whether a test run's last lines count failures: behind a pipe (`pytest | tail`) the exit code is 0 even so."""
    return _RED.search(output[-_RED_END:]) is not None


def is_milestone(command: str) -> bool:
    """Whether it makes something permanent: a commit, a push, a release."""
    return _MILESTONE.search(command) is not None


def is_search(command: str) -> bool:
    """Whether exit code 1 only means *nothing found*."""
    last = _SPLIT.split(_QUOTED.sub("_", command.strip()))[-1].strip()
    return _SEARCH.match(last) is not None


def changed_paths(command: str) -> tuple[tuple[str, How], ...]:
    """Paths that the command line names as changed or removed, under the folder it went to by `cd`.

    What scripts do is not known, and neither are names made of variables.
    """
    body = _HEREDOC.sub(lambda match: match[0].split("\n", 1)[0], command)
    hidden = _QUOTED.sub(lambda match: "_" * len(match[0]), body)
    folder = ""
    found: dict[str, How] = {}
    start = 0
    for end in (*(match.start() for match in _SPLIT.finditer(hidden)), len(body)):
        part = body[start:end].lstrip("&|;\n ")
        start = end
        try:
            words = _without_prefix(shlex.split(part, comments=True))
        except ValueError:
            continue
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, words[1]) if len(words) == 2 and "$" not in words[1] else ""
            continue
        written: list[tuple[str, How]] = [(path, "command") for path in _redirects(part)]
        for path, how in (*_named(words), *written):
            if not set("$`\n") & set(path) and path.strip("./"):
                found[posixpath.normpath(posixpath.join(folder, path))] = how
    return tuple(found.items())


def _redirects(part: str) -> Iterator[str]:
    blank = _QUOTED.sub(lambda match: "_" * len(match[0]), part)
    for match in _REDIRECT.finditer(blank):
        target = part[match.start(1) : match.end(1)].strip("'\"")
        if re.search(r"[\w/.]", target) and not target.isdigit() and not target.startswith("/dev/"):
            yield target


def _without_prefix(words: list[str]) -> list[str]:
    while words and (words[0] in {"sudo", "env", "time", "xargs", "do", "then", "("} or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    return words


def _named(words: list[str]) -> list[tuple[str, How]]:
    if not words:
        return []
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program == "git" and rest[:1] and rest[0] in {"mv", "rm"}:
        program, rest = rest[0], rest[1:]
    plain = [word for word in rest if word and not word.startswith("-") and not re.fullmatch(r"\d*[<>]+.*", word)]
    if program in _REMOVES:
        return [(path, "removed") for path in plain]
    if program in {"mv", *_COPIES} and len(plain) > 1:
        into = plain[-1].endswith("/") or plain[-1] in {".", ".."} or len(plain) > 2
        moved = [posixpath.join(plain[-1], posixpath.basename(path)) for path in plain[:-1]] if into else plain[-1:]
        gone = plain[:-1] if program == "mv" else []
        return [*((path, "removed") for path in gone), *((path, "command") for path in moved)]
    in_place = any(re.fullmatch(r"-\w*i\S*|--in-place.*", word) for word in rest)
    if program in {"sed", "gsed", "perl", "ruby"}:
        plain = plain[1:] if in_place else []
    elif program not in _CHANGES:
        plain = []
    return [(path, "command") for path in plain]
