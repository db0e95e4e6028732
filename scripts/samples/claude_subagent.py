"""A sub-agent of a Claude Code sample: it has a file of its own, and only its report stands in the session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scripts.samples.measure import about
from scripts.samples.story import Action

if TYPE_CHECKING:
    from scripts.samples.claude_code import Session

KIND = "general-purpose"
WORDS = {
    "en": (
        "A helper lists the places first.",
        "find the calls",
        "Search {path} for `{pattern}` and tell in which files it stands, and how often.",
        "Found in {count} files: {files}.",
    ),
    "zh": (
        "先让一个助手把位置列出来。",
        "查找调用",
        "在 {path} 中搜索 `{pattern}`，说明在哪些文件里、各有几处。",
        "共 {count} 个文件：{files}。",
    ),
}


def delegate(session: Session, search: Action) -> None:
    """Have a sub-agent make a search of the story, before the session makes it itself."""
    said, short, prompt, _ = WORDS[session.story.language]
    asked_for = prompt.format(**search.call.arguments)
    given = {"description": short, "prompt": asked_for, "subagent_type": KIND, "run_in_background": False}
    session.wait(2.5)
    call_id = session.call_id()
    blocks = [{"type": "text", "text": said}, {"type": "tool_use", "id": call_id, "name": "Agent", "input": given}]
    asked = session.answer(blocks, about(json.dumps(given)) + 20)[call_id]
    identity = f"a{session.digest('agent')[:16]}"
    report = _told(session, search, identity, asked_for)
    about_it = {"agentType": KIND, "description": short, "toolUseId": call_id, "spawnDepth": 1, "finished": True}
    session.beside[f"subagents/agent-{identity}.meta.json"] = json.dumps(about_it, ensure_ascii=False).encode()
    content = [{"type": "text", "text": report}]
    session.context += about(report) + 6
    block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
    shown = {"status": "completed", "prompt": asked_for, "agentId": identity, "agentType": KIND, "content": content}
    message = {"role": "user", "content": [block]}
    session.chained("user", message, parent=asked, toolUseResult=shown, sourceToolAssistantUUID=asked)


def _told(session: Session, search: Action, identity: str, prompt: str) -> str:
    """Write the sub-agent's file; its report."""
    before = session.lines, session.leaf, session.context, session.cached
    session.lines, session.leaf, session.subagent = [], None, identity
    session.context, session.cached = 9_000 + about(prompt), 0
    session.chained("user", {"role": "user", "content": prompt})
    session.surroundings()
    call_id = session.call_id()
    name, given = session.call(search)
    call: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": given}
    session.wait(2.0)
    asked = session.answer([call], about(json.dumps(given)) + 12)
    session.result(search, call_id, asked[call_id])
    report = WORDS[session.story.language][3].format(**_files(search))
    session.wait(2.0)
    session.answer([{"type": "text", "text": report}], about(report))
    session.beside[f"subagents/agent-{identity}.jsonl"] = session.data()
    session.lines, session.leaf, session.context, session.cached = before
    session.subagent = ""
    return report


def _files(search: Action) -> dict[str, Any]:
    hits = [line.split(":", 1)[0] for line in search.result.text.split("\n") if ":" in line]
    names = list(dict.fromkeys(hits))
    return {"count": len(names), "files": ", ".join(f"{name} ({hits.count(name)})" for name in names)}
