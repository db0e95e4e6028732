"""Made-up prose and code for generated sessions: plain words, some of them not ASCII."""

from __future__ import annotations

import random

NAMES = (
    "account batch buffer cache chunk client codec cursor digest entry field gateway handler index journal key ledger "
    "limit message offset parser planner queue reader record result route schema session store stream token writer"
).split()
PROSE = (
    "I look at the file first and then change the branch that fails. The offset is computed before the header is "
    "skipped, so the second read starts too early. The key has to hold the encoding as well. Let us keep the old "
    "behaviour for empty input and run the whole file again. The test says größe, naïve and Zoë must survive ✓ 🎉"
).split()
CHINESE = (
    "先看一下这个文件，然后再改失败的分支。 偏移量在跳过文件头之前就算好了，所以第二次读取开始得太早。 "
    "缓存的键里还要加上编码。 空输入时保持原来的行为，再把整个测试文件跑一遍。 "
    "可能是缓存没刷新导致的 🎉 不要修改公共接口。"
).split()
TYPES = ("int", "str", "bytes", "Decimal", "list[str]", "dict[str, int]", "Path", "None")


class Words:
    """Draws text from one random source."""

    def __init__(self, source: random.Random, chinese: bool) -> None:
        self.random = source
        self.prose_words = CHINESE if chinese else PROSE

    def prose(self, words: int) -> str:
        return " ".join(self.random.choice(self.prose_words) for _ in range(words))

    def name(self) -> str:
        return f"{self.random.choice(NAMES)}_{self.random.choice(NAMES)}"

    def path(self) -> str:
        """One of a few dozen paths, so that files are read again and again."""
        return f"src/{self.random.choice(NAMES[:6])}/{self.random.choice(NAMES[:8])}.py"

    def code(self, lines: int) -> str:
        return "\n".join(self._line() for _ in range(lines))

    def _line(self) -> str:
        kind, indent = self.random.random(), "    " * self.random.randint(0, 3)
        one, two = self.name(), self.name()
        if kind < 0.15:
            return f"{indent}def {one}(self, {two}: {self.random.choice(TYPES)}) -> {self.random.choice(TYPES)}:"
        if kind < 0.4:
            return f"{indent}{one} = self.{two}({self.random.randint(0, 4096)})"
        if kind < 0.5:
            return ""
        if kind < 0.62:
            return f"{indent}# {self.prose(7)}"
        if kind < 0.74:
            return f'{indent}raise ValueError(f"bad {one} at {{{two}}}: {self.random.randint(0, 9999)}")'
        if kind < 0.88:
            return f"{indent}for {one} in range({self.random.randint(2, 64)}):"
        return f'{indent}log.info("{one} größe=%d ✓", {two})'
