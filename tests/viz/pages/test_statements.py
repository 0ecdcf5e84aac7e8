"""Pages state and draw, in words and numbers, what is stored in statements/.

A statement is a text with a number or a quotation, or says what is drawn; a view has those that no
view before it has. With HEADLIGHT_RENEW=1 the files are
written anew: look at the difference before you commit it.
"""

import inspect
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
from tests.viz.pages.descriptions import describe_page
from transformer import Translator
from transformer.decoding.beam import BeamSearch
from transformer.files.installed import BUNDLED
from viz.app.cache import memory
from viz.app.cache.memory import ByteCache
from viz.findings import ranked
from viz.pages.translate import VIEWS as VIEWS_OF_TRANSLATE

pytestmark = pytest.mark.slow

STORED = Path(__file__).parent / "statements"
SENTENCE = "The dog bites the man."
HEAD = "kind=cross-attention&layer=6&head=1"
VIEWS = {
    "translate": (
        *(f"translate_view={view}" for view in VIEWS_OF_TRANSLATE),
        "translate_view=One map&without_sinks=true",
        "where_from=true",
        "numbers=cross-4-3-3-3",
    ),
    "heads": (
        "kind=decoder&layer=2&head=3",
        f"{HEAD}&without_sinks=true",
        "kind=encoder&layer=2&head=3&lens=norms&lens_norms=with residual",
        "kind=encoder&layer=2&head=3&lens=ALTI",
        f"view=compare&with=another lens&lens=norms&lens2=ALTI&{HEAD}",
    ),
    "inside": (
        "kind=encoder&head=1",
        "kind=decoder&head=1&score=one key&key=5",
        "kind=cross&layer=6&head=1&score=first key − second&scale_of=none",
        "kind=decoder&word=1&score=first key − second",
    ),
    "roles": (
        f"roles_view=Roles&{HEAD}",
        "roles_view=Roles&kind=cross-attention&layer=2&head=5&roles_measure=one-to-one",
        "roles_view=Roles&kind=decoder&layer=2&head=2&roles_measure=loss increase",
        f"roles_view=Remove heads&{HEAD}&removed=L2 H5 cross,L1 H6 encoder",
        f"roles_view=Why this word&{HEAD}&patch_edges=true",
        "roles_view=Why this word&kind=encoder&layer=6&head=3&written=2&why_heads=direct logits",
        "roles_view=Layer by layer&encoder_layers=true",
    ),
    "masks": (
        "mask-view=who sees whom&kind=encoder",
        "mask-view=who sees whom&kind=encoder&mask=both&mask-as=0/−∞",
        "mask-view=who sees whom&kind=decoder&mask=both&mask-row=3&mask-sentence=2",
        "mask-view=who sees whom&kind=cross-attention&mask=both&mask-sentence=3",
        "mask-view=shift right",
        *(f"kind={kind}&mask-view=remove the mask" for kind in ("encoder", "decoder", "cross")),
    ),
    "positions": (
        "pe_view=Encoding&pe_length=40&pe_width=8",
        "pe_view=Encoding&pe_length=40&pe_width=8&pe_formula=misprint",
        "pe_view=Curves",
        "pe_view=Curves&pe_formula=misprint",
        "pe_view=Similarity&pe_length=20&pe_width=32",
        "pe_view=Rotation",
        "pe_view=Your sentence&pe_stack=encoder",
        "pe_view=Your sentence&pe_stack=decoder",
        "pe_view=Learned&pe_stack=decoder",
        "pe_view=Longer",
        "pe_view=Remove positions&pe_seed=3",
    ),
    "architecture": (
        "",
        "edited=Der Hund singt.&arch_box=Cross-attention of the decoder",
        "arch_box=Feed forward of the decoder&arch_layer=2",
        "arch_box=Linear",
        "arch_box=Add %26 norm after feed forward of the encoder&arch_token=4",
        "arch_view=batch or layer&arch_layer=2&arch_token=3&arch_feature=5",
        "arch_view=parameters",
        "arch_view=parameters&arch_N=2&arch_positions=learned",
    ),
    "figure2": (
        "kind=decoder&layer=2&head=3",
        "kind=encoder&layer=2&head=1&figure2_open=V",
        "kind=cross&layer=2&head=1&figure2_open=softmax",
        "figure2_view=one head instead of h&kind=encoder&layer=2&head=1",
        "figure2_view=one head instead of h&kind=cross&figure2_every=true",
    ),
    "self_attention": (
        "path_from=5&path_to=2&arch_k=2",
        "arch_quantity=memory&arch_d=16&arch_heads=2&arch_n=64",
        "arch_quantity=longest path&arch_r=8",
        "arch_quantity=sequential operations",
    ),
    "additive": ("kind=decoder&layer=2&head=3&additive_seed=7", "additive_view=Scale&kind=encoder"),
    "hooks": ("hooks_box=Cross-attention of the decoder&hook=mask", "hook=pattern&layer=2&head=3"),
    "schedule": ("", "pairs=256 · 2000&axes=logarithmic&used=true&steps=30000"),
    "tables": ("",),
    "training": ("training_view=Heads forming&kind=encoder&trained=64", "training_view=Curves"),
    "corpus": (
        "corpus_view=Heads&corpus_x=entropy&corpus_color=role",
        "corpus_view=One head&kind=encoder&layer=2&head=3&corpus_measure=previous",
        "corpus_view=Search&search_order=largest first&match_source=dog",
        "corpus_view=Pairs&pairs_group=number",
    ),
}

NUMBER = re.compile(r"(?<![A-Za-z_])[−+-]?\d[\d,]*(?:\.\d+)?")
WITH_NUMBER = re.compile(r"\d\\?\.\d\d$")
STATED = re.compile("[0-9“]|left out: |added: ")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # in Markdown


@pytest.fixture(scope="module", autouse=True)
def _searches_stop_early() -> Iterator[None]:
    """Translations of changed models, which do not end, have some pieces instead of fifty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(inspect.unwrap(BeamSearch.__init__).__kwdefaults__, "max_extra", 4)
        own = ByteCache(memory.LIMIT)
        patch.setattr(memory, "shared_cache", lambda: own)
        yield


@pytest.mark.parametrize("page", VIEWS)
def test_a_page_states_of_a_sentence_what_is_stored(serve, page: str) -> None:
    translator = Translator.load()
    # the app draws them above the page
    findings = ranked(page, translator.trace(SENTENCE), translator)
    lines, earlier = [], set[str]()
    for query in VIEWS[page]:
        app = serve(page, checkpoint=BUNDLED, text=SENTENCE, **dict(parse_qsl(query)))
        texts = *(_plain(finding.text) for finding in findings), *statements(app)
        shown = [text for text in texts if STATED.search(text)]
        shown += map(_plain, describe_page(app))
        lines += [f"# {query}", *(line for line in shown if line not in earlier)]
        earlier.update(shown)
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
    text = re.sub(r"\S+\.py:\d+ \S+|\d+ [mµ]s\b|\d[\d.]*e[-−]\d+", "…", text)
    return " ".join(text.split())
