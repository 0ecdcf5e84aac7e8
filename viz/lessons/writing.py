"""Saved views and puzzles as a lesson file: a card for each, with its link."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote_plus

from viz.lessons.lesson import Language, View
from viz.lessons.puzzles import Puzzle

_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~$&@]|^[-+=]|:(?=//|\w+:)|(?<=www)\.")
_NUMBER = re.compile(r"^(\d+)(?=[.)])")
_SAVED = {
    "en": ("Saved views", "What do you see here?", "the right answer", "a wrong answer"),
    "de": ("Gespeicherte Ansichten", "Was siehst du hier?", "die richtige Antwort", "eine falsche"),
}
"""By language: the title, and the question of each card, for the author to replace."""


class SavedView(NamedTuple):
    """A view with a name, which is the title of its card, and one plain sentence on it, or ""."""

    name: str
    text: str
    view: View


def lesson_file(views: Sequence[SavedView], language: Language) -> str:
    """Write views, at least one, as a lesson file that `read_lesson` reads."""
    title, ask, right, wrong = _SAVED[language]
    minutes = max(1, len(views) // 2)
    front = {"title": title, "goal": title, "minutes": minutes, "language": language}
    lines = ["---", *_json_lines(front), "---", ""]
    for saved in views:
        text = [plain_markdown(saved.text), ""] if saved.text else []
        block = ["```yaml", *_json_lines({"link": saved.view.url, "ask": ask}), "```", ""]
        choices = [f"- [x] {right}", f"- [ ] {wrong}", ""]
        lines += [f"## {plain_markdown(saved.name)}", "", *text, *block, *choices]
    return "\n".join(lines)


def plain_markdown(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line."""
    return _NUMBER.sub(r"\1\\", _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())))


MINUTES = 2  # minutes that a puzzle takes

_VIEWS = {
    "removal": ("roles", "&roles_view=Remove+heads&kind={1}&layer={2}", "grid"),
    "link": ("heads", "&kind=cross-attention&layer=mean&head=mean", "grid"),
    "before": ("heads", "&kind=encoder&layer=mean&head=mean", "grid"),
    "uncertain": ("translate", "", "translation"),
    "end": ("heads", "&kind=encoder&layer={0}&head={1}", "map"),
    "positions": ("positions", "&pe_view=Remove+positions", "translation"),
}
"""By kind of puzzle: the page, its other parameters, and the place to look at."""
_MEASURES = {"uncertain": "least certain"}
"""Measures of right answers; the other kinds mark a choice."""
_CARDS: Mapping[str, tuple[str, str, str, str, str]] = {
    "removal": ("Which head is needed?",
        "Click a small map to remove its head, read the translation, and click it again to put the "
        "head back.",
        "Which of these heads, removed alone, makes “{0}” disappear from the translation?",
        "Remove the heads of the choices one by one, and look for “{0}” in the translation.",
        "Without {{answer}} there is no “{0}”. Without each of the others, the translation stays."),
    "link": ("Which head makes this link?",
        "Look at one head after another. The word that a row predicts stands right of the map.",
        "Which of these heads looks at “{1}” in the row that predicts “{0}”?",
        "Open each head of the choices, and find the square of row “{0}” and column “{1}”.",
        "In {{answer}} this square has 0.9 or more, in each of the others 0.2 or less."),
    "before": ("Which head looks back?",
        "Such a head has its strong squares just left of the diagonal.",
        "Which of these heads looks at the subword just before?",
        "In which of these small maps do strong squares make a line just left of the diagonal?",
        "In {{answer}} a row gives 0.6 or more to the subword before it, on average, in each of "
        "the others 0.2 or less."),
    "uncertain": ("Where is the model least certain?",
        "The bar under a word of the translation shows its probability.",
        "Which of these words has the lowest probability?",
        "Which word has the shortest bar? Point at it to read its probability.",
        "“{{answer}}” has at most three quarters of the probability of any other word."),
    "end": ("Who looks at the end?",
        "The last column of the map is `</s>`, the end of the sentence.",
        "In which of these rows of L{0} H{1} is the weight on `</s>` the largest?",
        "Go down the last column, and compare its squares in the rows of the choices.",
        "This row gives `</s>` 0.6 or more, each of the others 0.3 or less."),
    "positions": ("Which positions are needed?",
        "The model adds to each subword where it stands: in the encoder, and in the decoder.",
        "Without which positions does the translation stay the same?",
        "The page translates without each of them. Where is no word struck out?",
        "What changes is struck out. Where nothing is, the model does without these positions."),
}  # fmt: skip
"""By kind of puzzle: title, text, question, hint and reason."""
_ASKED = ("ask", "hint", "reveal")
_STACKS: Mapping[str, str] = {
    "encoder": "without those of the encoder",
    "decoder": "without those of the decoder",
    "both": "without any positions",
    "neither": "in none of these cases",
}
"""By the stacks whose positions are removed: the choice."""


def puzzle_file(puzzles: Sequence[Puzzle], bundled: bool, made_by: str) -> str:
    """Write puzzles, at least one, as a lesson file; `made_by` are program and model in words."""
    fields = {
        "title": "Puzzles",
        "goal": "Find out from the pictures what a head does.",
        "minutes": MINUTES * len(puzzles),
        "language": "en",
        "model": "bundled" if bundled else "any",
        "notes": f"Found for {made_by}: with another model, run headlight lessons puzzles again.",
    }
    text = "Each puzzle has a sentence of its own. Open its view, look and try, then choose."
    return "\n".join(["---", *_json_lines(fields), "---", "", text, "", *map(_card, puzzles)])


def _card(puzzle: Puzzle) -> str:
    title, text, *asked = (part.format(*puzzle.names) for part in _CARDS[puzzle.kind])
    page, choices, light = _VIEWS[puzzle.kind]
    link = f"/{page}?text={quote_plus(puzzle.source)}{choices.format(*puzzle.names)}"
    block = _json_lines({"link": link, "light": light, **dict(zip(_ASKED, asked, strict=True))})
    marked = puzzle.right
    if measure := _MEASURES.get(puzzle.kind):
        block, marked = [*block, f"answer: {{measure: {measure}}}"], ""
    options = [f"- [{'x' if c == marked else ' '}] {_STACKS.get(c, c)}" for c in puzzle.choices]
    return "\n".join([f"## {title}", "", text, "", "```yaml", *block, "```", "", *options, ""])


def _json_lines(fields: Mapping[str, object]) -> list[str]:
    """Write one field on each line; JSON text is valid YAML."""
    return [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
