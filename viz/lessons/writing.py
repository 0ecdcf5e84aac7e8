"""Saved views as a lesson file: a card for each, with its link."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from viz.lessons.lesson import Language, View
from viz.lessons.texts import TEXTS

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~$&@]|^[-+=]|:(?=//|\w+:)|(?<=www)\.")
_NUMBER = re.compile(r"^(\d+)(?=[.)])")


class SavedView(NamedTuple):
    """A view with a name, which is the title of its card, and one plain sentence on it, or ""."""

    name: str
    text: str
    view: View


def lesson_file(views: Sequence[SavedView], language: Language) -> str:
    """Write views, at least one, as a lesson file that `read_lesson` reads."""
    texts = TEXTS[language]
    title = texts["saved"]
    minutes = max(1, len(views) // 2)
    front = {"title": title, "goal": title, "minutes": minutes, "language": language}
    lines = ["---", *_json_lines(front), "---", ""]
    for saved in views:
        text = [plain_markdown(saved.text), ""] if saved.text else []
        block = ["```yaml", *_json_lines({"link": saved.view.url, "ask": texts["ask"]}), "```", ""]
        choices = [f"- [x] {texts['right_choice']}", f"- [ ] {texts['wrong_choice']}", ""]
        lines += [f"## {plain_markdown(saved.name)}", "", *text, *block, *choices]
    return "\n".join(lines)


def plain_markdown(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line."""
    return _NUMBER.sub(r"\1\\", _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())))


def _json_lines(fields: Mapping[str, object]) -> list[str]:
    """Write one field on each line; JSON text is valid YAML."""
    return [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
