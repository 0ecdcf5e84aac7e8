"""Saved views as a lesson file: a card for each, with its link."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import yaml

from viz.lessons.lesson import View

_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")


class SavedView(NamedTuple):
    """A view with a name, which is the title of its card, and one plain sentence on it, or ""."""

    name: str
    text: str
    view: View


def lesson_file(title: str, views: Sequence[SavedView]) -> str:
    """Write views, at least one, as a lesson file that `read_lesson` reads."""
    front = {"title": title, "goal": title, "minutes": max(1, len(views) // 2), "language": "en"}
    parts = [f"---\n{_yaml(front)}---\n"]
    for saved in views:
        text = f"{_plain(saved.text)}\n\n" if saved.text else ""
        block = _yaml({"link": saved.view.url})
        parts.append(f"## {_plain(saved.name)}\n\n{text}```yaml\n{block}```\n")
    return "\n".join(parts)


def _yaml(values: dict[str, object]) -> str:
    text: str = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=1_000_000)
    return text


def _plain(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
