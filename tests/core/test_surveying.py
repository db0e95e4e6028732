"""The list of sessions: every session of a home once, with its agent and figures, children under their parents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from core.agents import AGENTS, agent_named, detect
from core.errors import ClientRefuses, NotASession, SeamlineError
from core.files import Disk
from core.finding import Place, Root, agents_roots, places, root_of
from core.opening import open_session
from core.planning import budget_of
from core.policies.settings import Settings
from core.session import Session
from core.survey_cache import NAME, SurveyCache
from core.surveying import Row, Survey, families, row_json, skipped, survey
from tests.core.dated_sessions import pi_session

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/conformance"


def none_installed(command: str) -> None:
    return None


def looked(*roots: Root) -> list[Row]:
    return [Row(place, survey(place, none_installed)) for place in places(roots)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of all samples and captured sessions."""
    folder = tmp_path_factory.mktemp("all")
    shutil.copytree(ROOT / "sample_sessions", folder / "samples")
    shutil.copytree(CASES, folder / "cases")
    return folder


@pytest.fixture(scope="module")
def rows(home: Path) -> list[Row]:
    return looked(root_of(home))


def expected(home: Path) -> dict[Path, str]:
    """Each session file of the home and its agent, told by its folder's name."""
    found: dict[Path, str] = {}
    for path in home.rglob("*"):
        if path.is_file() and path.name not in ("expected.json", "case.json"):
            try:
                found[path] = detect(Disk(), path).name
            except NotASession:
                continue
    return found


def test_every_session_is_listed_once_with_its_agent(home: Path, rows: list[Row]) -> None:
    listed = [(row.place.path, row.survey.agent) for row, _ in families(rows) if row.survey]
    assert len(listed) == len(set(listed))
    wanted = expected(home)
    # What lies in a session's own folder beside the log belongs to it.
    missing = {path for path in wanted.keys() - dict(listed).keys() if path.parent not in {p.parent for p, _ in listed}}
    assert not missing
    assert dict(listed).items() <= wanted.items()
    assert {agent for _, agent in listed} == set(AGENTS)
    for path, agent in listed:
        case = path.relative_to(home).parts[1]
        assert case.startswith(agent) or not path.read_bytes().strip(), path


def test_figures_are_those_that_stats_shows(rows: list[Row]) -> None:
    checked = 0
    for row in rows:
        told = row.survey
        assert told is not None
        if not told.agent:
            continue
        try:
            used = budget_of(open_session(row.place.path), Settings()).used
        except ClientRefuses:
            assert told.tokens is None and told.problem
            continue
        except SeamlineError:
            assert told.problem
            continue
        checked += 1
        assert (told.tokens, told.kind, told.includes) == (used.value, used.kind, used.includes), row.place.path
    assert checked > 250


def opened(path: Path) -> Session:
    """The session at `path`, also where its client would not resume it."""
    return detect(Disk(), path).open(Disk(), path)


def test_children_stand_under_their_parents(rows: list[Row]) -> None:
    above: dict[str, str] = {}
    way: list[Row] = []
    for row, depth in families(rows):
        del way[depth:]
        if depth:
            above[str(row.place.path)] = str(way[-1].place.path)
        way.append(row)
    agents = {detect(Disk(), Path(child)).name for child in above}
    assert {"claude-code", "codex", "dsh", "grok-build"} <= agents
    for child, parent in above.items():
        mine, theirs = (opened(Path(path)) for path in (child, parent))
        assert mine.parent in (theirs.identity, str(theirs.path))


def test_sessions_that_claim_each_other_as_parents_are_all_listed(tmp_path: Path) -> None:
    circle = [
        Row(Place(tmp_path / str(number), 1, 0, number, True), Survey("pi", str(number), str((number + 1) % 3)))
        for number in range(3)
    ]
    assert sorted(row.place.path.name for row, _ in families(circle)) == ["0", "1", "2"]


def test_the_times_inside_decide_the_order_whatever_they_look_like(tmp_path: Path) -> None:
    pi_session(tmp_path / "a.jsonl", "/", "2026-11-01T10:00:00+02:00")  # 08:00
    pi_session(tmp_path / "b.jsonl", "/", "2026-11-01T09:30:00+00:00")
    pi_session(tmp_path / "c.jsonl", "/", "2026-11-01T09:15:00.123Z")
    pi_session(tmp_path / "d.jsonl", "/", "2026-11-01T09:20:00.123456789Z", "2026-11-01T07:00:00Z")
    for number, name in enumerate("badc"):
        os.utime(tmp_path / f"{name}.jsonl", (1_000 + number, 1_000 + number))
    order = [row.place.path.stem for row, _ in families(looked(root_of(tmp_path)))]
    assert order == ["b", "d", "c", "a"]


def test_a_file_that_promises_a_session_and_is_none_is_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"some": "thing"}\n')
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "readme.md").write_text("words")
    found = looked(root_of(tmp_path))
    (only,) = skipped(found)
    assert only.place.path.name == "notes.jsonl"
    assert only.survey is not None and "not a session" in only.survey.problem
    assert families(found) == []


def test_one_file_under_two_names_is_listed_once(tmp_path: Path) -> None:
    pi_session(tmp_path / "a.jsonl", "/work", "2026-11-01T10:00:00Z")
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    os.link(tmp_path / "a.jsonl", tmp_path / "c.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert len(families(looked(root_of(tmp_path)))) == 1


@pytest.mark.parametrize(
    ("variable", "agent", "below"),
    [
        ("CODEX_HOME", "codex", "sessions"),
        ("CLAUDE_CONFIG_DIR", "claude-code", "projects"),
        ("GROK_HOME", "grok-build", "sessions"),
        ("DSH_HOME", "dsh", "sessions"),
        ("PI_CODING_AGENT_DIR", "pi", "sessions"),
    ],
)
def test_the_agents_own_variables_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, agent: str, below: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    assert tmp_path / below in agent_named(agent).folders()
    assert tmp_path / below in {root.folder for root in agents_roots()}


def test_what_is_known_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pi_session(path, "/work", "2026-11-01T10:00:00Z")
    cache = SurveyCache(tmp_path / "cache", "pi=1")
    (place,) = places([root_of(tmp_path)])
    told = survey(place, none_installed)
    cache.keep([(place, told)])
    assert cache.known() == {SurveyCache.key(place): told}
    assert SurveyCache(tmp_path / "cache", "pi=2").known() == {}, "another client may show another view"
    pi_session(path, "/work", "2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z")
    (changed,) = places([Root(tmp_path, ("a.jsonl",))])
    assert SurveyCache.key(changed) not in cache.known()


def test_a_damaged_cache_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database at all" * 100)
    cache = SurveyCache(tmp_path)
    assert cache.known() == {}
    place = Place(tmp_path / "x", 1, 2, 3, True)
    cache.keep([(place, Survey("pi"))])
    assert cache.known() == {SurveyCache.key(place): Survey("pi")}


def test_json_says_where_each_figure_is_from(tmp_path: Path) -> None:
    pi_session(tmp_path / "a.jsonl", "/work", "2026-11-01T10:00:00Z")
    (row,) = looked(root_of(tmp_path))
    told = row_json(row)
    assert told["last_activity"] == "2026-11-01T10:00:00Z" and told["last_activity_from"] == "session"
    assert told["project"] == "/work" and told["title"] == "words of a"
    assert told["tokens"]["kind"] == "counted" and told["tokens"]["includes"] == "view"
    assert told["window"] is None and told["share"] is None
