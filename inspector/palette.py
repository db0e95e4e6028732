"""The command palette: every command of the screen below it, as `area: Verb object`."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from inspector.keymap import APP, Key


class Commands(Provider):
    """Commands of the app and of the screen that the palette was opened over."""

    def _commands(self) -> list[tuple[str, Key]]:
        area: str = getattr(self.screen, "AREA", "")
        keys: tuple[Key, ...] = getattr(self.screen, "KEYS", ())
        return [(area, key) for key in keys] + [("app", key) for key in APP]

    async def discover(self) -> Hits:
        for area, key in self._commands():
            yield DiscoveryHit(f"{area}: {key.words}", self._run(area, key), help=self._help(key))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for area, key in self._commands():
            name = f"{area}: {key.words}"
            if score := matcher.match(name):
                yield Hit(score, matcher.highlight(name), self._run(area, key), help=self._help(key))

    def _run(self, area: str, key: Key) -> partial[object]:
        target = self.app if area == "app" else self.screen
        return partial(target.run_action, key.action)

    @staticmethod
    def _help(key: Key) -> str:
        return f"key: {key.display}" + (f" · {key.help}" if key.help else "")
