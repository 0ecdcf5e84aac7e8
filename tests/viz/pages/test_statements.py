"""Pages state of a sentence, in words and numbers, what is stored in statements/.

A statement is a text that differs between two sentences, or is a sentence with a number; a view
has those that no view before it has. With HEADLIGHT_RENEW=1 the files are written anew: look at the
difference before you commit it.
"""

import os
import re
from collections.abc import Iterator
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.viz.draw.message import decode
from transformer import AttentionTrace, Translator
from transformer.files.installed import BUNDLED
from viz.findings import ranked
from viz.pages.translate import VIEWS as VIEWS_OF_TRANSLATE

pytestmark = pytest.mark.slow

STORED = Path(__file__).parent / "statements"
SENTENCES = ("The dog bites the man.", "A man ☃ is eating 雪 here.")
HEAD = "kind=cross-attention&layer=6&head=1"
VIEWS = {
    "translate": (
        *(f"translate_view={view}" for view in VIEWS_OF_TRANSLATE),
        "translate_view=One map&without_sinks=true",
        "where_from=true",
        "numbers=cross-4-3-3-3",
    ),
    "heads": ("kind=decoder&layer=2&head=3", f"{HEAD}&without_sinks=true"),
    "inside": ("kind=encoder&head=1", "kind=decoder&head=1"),
    "roles": (
        f"roles_view=Roles&{HEAD}",
        "roles_view=Roles&kind=cross-attention&layer=2&head=5",
        f"roles_view=Remove heads&{HEAD}&removed=L2 H5 cross,L1 H6 encoder",
        f"roles_view=Why this word&{HEAD}",
        "roles_view=Why this word&kind=encoder&layer=6&head=3&written=2&why_heads=direct logits",
        "roles_view=Layer by layer",
    ),
    "masks": (
        "mask-view=who sees whom&kind=encoder",
        "mask-view=who sees whom&kind=decoder&mask-row=3",
        "mask-view=who sees whom&kind=cross-attention&mask-sentence=3",
        *(f"kind={kind}&mask-view=remove the mask" for kind in ("encoder", "decoder", "cross")),
    ),
    "positions": ("pe_view=Your sentence",),
    "architecture": ("",),
    "self_attention": ("",),
    "additive": ("", "additive_view=Scale&kind=encoder"),
    "hooks": ("", "hooks_box=Cross-attention of the decoder&hook=mask"),
}

NUMBER = re.compile(r"(?<![A-Za-z_])[−+-]?\d[\d,]*(?:\.\d+)?")
WITH_NUMBER = re.compile(r"\d\\?\.\d\d$")
COUNTS = re.compile(r"[^\[]((?!§|et al|\.py).)*\d((?!§|et al|\.py).)*\.")  # of no picture or paper
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # in Markdown


@pytest.fixture(scope="module")
def bundled() -> tuple[Translator, dict[str, AttentionTrace]]:
    translator = Translator.load()
    return translator, {text: translator.trace(text) for text in SENTENCES}


@pytest.mark.parametrize("page", VIEWS)
def test_a_page_states_of_a_sentence_what_is_stored(serve, bundled, page: str) -> None:
    lines: list[str] = []
    earlier: dict[str, set[str]] = {text: set() for text in SENTENCES}
    # the app draws them above the page
    translator, traces = bundled
    notable = {
        text: [_plain(finding.text) for finding in ranked(page, trace, translator)]
        for text, trace in traces.items()
    }
    for query in VIEWS[page]:
        url = dict(parse_qsl(query))
        both = [
            [*notable[text], *statements(serve(page, checkpoint=BUNDLED, text=text, **url))]
            for text in SENTENCES
        ]
        for text, mine, other in zip(SENTENCES, both, both[::-1], strict=True):
            lines.append(f"# {query} · {text}")
            lines += [
                line
                for line in mine
                if line not in earlier[text] and (line not in other or COUNTS.fullmatch(line))
            ]
            earlier[text].update(mine)
    path = STORED / f"{page}.txt"
    if os.environ.get("HEADLIGHT_RENEW") == "1":
        path.write_text("\n".join([*lines, ""]), "utf-8")
    stored = path.read_text("utf-8").splitlines()
    pairs = zip_longest(lines, stored, fillvalue="")
    assert [pair for pair in pairs if not agree(*pair)][:20] == []


def test_a_number_that_is_off_is_found() -> None:
    assert agree("log p −1.23 · 7 pieces", "log p −1.24 · 7 pieces")  # as a last digit rounds
    assert not agree("log p −1.23 · 7 pieces", "log p −1.25 · 7 pieces")
    assert not agree("log p −1.23 · 7 pieces", "log p −1.23 · 8 pieces")
    assert not agree("log p −1.23", "log p 1.23")
    assert not agree("falls from 1.2 to 1.1", "rises from 1.2 to 1.1")


def agree(shown: str, stored: str) -> bool:
    """The same words, and the same numbers to one in the last place that is shown."""
    if NUMBER.split(shown) != NUMBER.split(stored):
        return False
    return all(map(_near, NUMBER.findall(shown), NUMBER.findall(stored)))


def _near(number: str, other: str) -> bool:
    if number == other or "." not in number:
        return number == other  # a count is what it is
    a, b = (float(text.replace("−", "-").replace(",", "")) for text in (number, other))
    return abs(a - b) < 1.01 * 10.0 ** -len(number.partition(".")[2])


def statements(app: Any) -> Iterator[str]:
    """Each text on a page, of its pictures too, in plain words."""
    assert not app.exception
    for element in (*app.text, *app.caption, *app.markdown, *app.subheader):
        yield from map(_plain, element.value.splitlines())
    for metric in app.metric:
        yield _plain(f"{metric.label}: {metric.value}")
        yield _plain(metric.proto.help)
    options = (option for group in app.button_group for option in group.options)
    for label in (*(button.label for button in app.button), *options):
        if WITH_NUMBER.search(label):
            yield _plain(label)
    for element in app.get("html"):
        if "headlight-subwords" in element.proto.body:  # in the menu of every page
            continue
        # what stands between blocks is a text of its own
        for part in re.split(r"</?(?:small|li|div|ol|t[dhr])[^>]*>", element.proto.body):
            hover = " ".join(re.findall('title="([^"]+)"', part))
            words = re.sub(r"<del>([^<]*)</del>", r"⟦\1⟧", part)
            yield _plain(unescape(f"{re.sub('<[^>]+>', '', words)} {hover}"))
    for component in app.get("bidi_component"):
        meta, _ = decode(component.proto.bytes)
        yield from (_plain(f"[{meta['component']}] {text}") for text in _texts(meta))
        if meta["component"] == "step_bars":
            pieces = (option for step in meta["steps"] for option in step)
            yield from (_plain(f"[step_bars] {o['label']} {o['p']:.2f}") for o in pieces)


NOT_STATED = {"code", "options", "beginnings", "strongest", "shape", "shapes", "size"}
"""Parts of messages that change with the code, or repeat arrays and labels."""


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """Each text of several words, and each short list of numbers, in the message of a picture."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in NOT_STATED:
                yield from _texts(part, f"{name} {key}".strip())
    elif isinstance(value, list) and any(isinstance(part, dict | list | str) for part in value):
        for part in value:
            yield from _texts(part, name)
    elif (isinstance(value, str) and " " in value) or (isinstance(value, list) and len(value) < 5):
        yield f"{name}: {value}"


def _plain(text: str) -> str:
    """Without marks of direction and emphasis, lines of code, rounding, and a stopwatch's time."""
    text = re.sub("[\u2068\u2069\u2060*`]", "", ESCAPED.sub(r"\1", text))
    text = re.sub(r"\S+\.py:\d+ \S+|\d+ ms\b|\d[\d.]*e[-−]\d+", "…", text)
    return " ".join(text.split())
