"""Every sentence on the pages that follows the English one, against numbers computed once more.

A page is rendered by Streamlit without a browser, for each of ten sentences and in each view that
shows them. The sentences expected there are computed from the model by other code than the page's.
What varies with the sentence and is expected by no check is a fault, too.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from streamlit.testing.v1 import AppTest

from benchmarks.sentences.facts import MAYBE, Expected, Facts, Marked, bar
from benchmarks.sentences.views import View, views
from tests.viz.draw.message import decode
from transformer import Translator
from viz.app.cache.memory import forget_server_wide

SENTENCES = (
    "Two black dogs are running through the snow.",
    "Dog.",
    "Hello",
    "Where did you buy these shoes?",
    "The dog and the cat and the dog and the cat are sleeping.",
    "A man ☃ is eating 雪 here.",
    "The dog bites the man.",
    "Zwei Hunde rennen durch den Schnee.",
    "The unbelievably grandmotherly ophthalmologist photographs hippopotamuses.",
    "A young man with a blue helmet is riding his bicycle down the street while two girls are "
    "watching him, and I did not know that she had bought the old book yesterday, 42 times.",
)
_NUMBER = re.compile(r"(?<![A-Za-z_])[−+-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?")
_WITH_NUMBER = re.compile(r"\d\\?\.\d\d$")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # in Markdown
_CLAIM = re.compile(
    r"\d|looks at|reads|becomes|rises|falls|stays|the same|only there|no change|no padding"
)


@dataclass
class Report:
    """Findings on the pages."""

    views: int = 0  # rendered, each for all sentences
    checked: int = 0  # sentences with the computed value
    wrong: list[str] = field(default_factory=list)  # missing, by page and English sentence
    unchecked: list[str] = field(default_factory=list)  # varies with the sentence, without a check


def check(sentences: Sequence[str], wanted: Callable[[View], bool] = lambda _view: True) -> Report:
    """Render the wanted views for at least two sentences, which show what varies, and compare."""
    if len(sentences) < 2:
        raise ValueError("What varies with the sentence is not seen on fewer than two.")
    forget_server_wide()
    translator = Translator.load()
    report = Report()
    every = {sentence: Facts(translator, sentence) for sentence in sentences}
    for name, url, expected in filter(wanted, views(translator)):
        report.views += 1
        left: dict[str, list[str]] = {}
        for sentence, facts in every.items():
            shown = list(statements(_render(name, {**url, "text": sentence})))
            wrong, rest = compare(shown, [*bar(facts), *expected(facts)])
            where = f"{name} {url} on “{sentence}”"
            report.checked += len(shown) - len(rest)
            report.wrong += [f"{where}: {text}" for text in wrong]
            left[sentence] = rest
        for sentence, rest in left.items():
            report.unchecked += [
                f"{name} {url} on “{sentence}”: {text}"
                for text in rest
                if _CLAIM.search(text) and not all(text in other for other in left.values())
            ]
    return report


def compare(shown: Sequence[str], expected: Sequence[Expected]) -> tuple[list[str], list[str]]:
    """Return what was expected and is not there, and what is there and was not expected."""
    rest, wrong = list(shown), []
    for text in expected:
        agreeing = [line for line in rest if agrees(line, text)]
        if agreeing:
            rest = [line for line in rest if line not in agreeing]
        elif str(text).startswith(MAYBE) or any(agrees(line, text) for line in shown):
            continue
        else:
            wrong.append(f"expected {text!r}, found {_nearest(text, rest)!r}")
    return wrong, rest


def agrees(shown: str, expected: Expected) -> bool:
    """The same words, and the same numbers to one in the last place that is shown."""
    if isinstance(expected, Marked):
        texts = _marks(shown, "+", "−"), _marks(shown, "−", "+")
        return texts == (" ".join(expected.text.split()), " ".join(expected.other.split()))
    expected = expected.removeprefix(MAYBE)
    if expected.startswith("…"):
        # in a longer sentence: each part, in this order
        parts = map(re.escape, expected.strip("…").split("…"))
        return re.search(".*".join(parts), shown) is not None
    if _NUMBER.split(shown) != _NUMBER.split(expected):
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(expected), strict=True)
    return all(_near(number, other) for number, other in pairs)


def _marks(text: str, mark: str, dropped: str) -> str:
    """A marked text with one sort of its marks, as words with one space between them."""
    text = re.sub(rf"⟦{re.escape(dropped)}[^⟧]*⟧", "", text)
    return " ".join(re.sub(rf"⟦{re.escape(mark)}([^⟧]*)⟧", r"\1", text).split())


def _near(number: str, other: str) -> bool:
    if number == other:
        return True
    if "." not in number:
        return False  # a count is what it is
    digits = len(number.partition(".")[2])
    a, b = (float(text.replace("−", "-").replace(",", "")) for text in (number, other))
    return abs(a - b) < 1.01 * 10.0**-digits


def _nearest(expected: Expected, rest: Sequence[str]) -> str:
    text = expected.text if isinstance(expected, Marked) else expected
    words = set(text.split())
    return max(rest, key=lambda line: len(words & set(line.split())), default="")


def statements(app: AppTest) -> Iterator[str]:
    """Each piece of text on a page, of its pictures too, in plain words."""
    for element in (*app.text, *app.caption, *app.markdown, *app.subheader):
        for line in element.value.splitlines():
            yield _plain(line)
    for metric in app.metric:
        yield _plain(f"{metric.label}: {metric.value}")
        if metric.proto.help:
            yield _plain(metric.proto.help)
    for label in _labels(app):
        yield _plain(label)
    for element in app.get("html"):
        if "<table" in element.proto.body:
            yield from map(_plain, cells(element.proto.body))
            continue
        # what stands between blocks is a sentence of its own
        for part in re.split(r"</?(?:small|li|div|ol)[^>]*>", element.proto.body):
            words = re.sub(r'<span class="headlight-unseen">[^<]*</span>', "", part)
            if "headlight-candidate" in element.proto.body:
                words = re.sub(r"<del>([^<]*)</del>", r"⟦−\1⟧", words)
                words = re.sub(r"<b>([^<]*)</b>", r"⟦+\1⟧", words)
                words = re.sub(r"<i>[^<]*</i>", "", words)
            words = re.sub(r"</?(?:b|del|span|bdi|i)[^>]*>", "", words)
            if words.strip():
                yield _plain(unescape(words))
    for component in app.get("bidi_component"):
        meta, arrays = decode(component.proto.bytes)
        yield from (_plain(f"{meta['component']} {text}") for text in _meta_lines(meta))
        if meta["component"] == "step_bars":
            pieces = zip(meta["labels"], arrays["probabilities"], strict=True)
            yield from (_plain(f"step_bars {label} {p:.2f}") for label, p in pieces)


def _labels(app: AppTest) -> Iterator[str]:
    """Yield labels of buttons that say a number: a head's or a piece's."""
    options = (option for group in app.button_group for option in group.options)
    for label in (*(button.label for button in app.button), *options):
        if _WITH_NUMBER.search(label):
            yield label


def _meta_lines(meta: dict[str, Any]) -> Iterator[str]:
    for name in ("title", "note", "query"):
        if meta.get(name):
            yield f"{name}: {meta[name]}"
    for name in ("rowNames", "names"):
        yield from (f"row {n}: {text}" for n, text in enumerate(meta.get(name) or [], start=1))
    for step in (step for step in meta.get("steps", []) if "name" in step):  # of Inside a head
        yield f"step {step['name']}: {step['shape']}"
        yield f"step {step['name']}: {step['says']}"
    for box in meta.get("boxes", []):
        yield f"box {box['label']}"
        says = enumerate(box.get("sentences", ()))  # of the player
        yield from (f"{box['name']} {step}: {text}" for step, text in says)
    if meta.get("playing"):
        yield f"last: {meta['playing']['last']}"
    for grid in meta.get("grids", []):
        yield f"title: {grid['title']}"
        yield from (f"row {n} of {grid['title']}: {t}" for n, t in enumerate(grid["names"], 1))
    for part in meta.get("parts", []):
        for layer, roles in enumerate(part["roles"], start=1):
            for head, role in enumerate(roles, start=1):
                query, key, weight = part["strongest"][layer - 1][head - 1]
                name = f"{part['name']} L{layer} H{head}"
                yield f"{name} looks most from {query + 1} to {key + 1}: {weight:.2f}"
                if role:
                    yield f"{name} role: {role}"


def cells(html: str) -> Iterator[str]:
    """Yield `L3 at 2 schwarze: schwarze 0.93`: row, number and name of the column, and the text.

    The text of a hover follows its cell.
    """
    names: list[str] = []
    for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL):
        parts = re.findall(r"<(t[dh])\b([^>]*)>(.*?)</\1>", row, re.DOTALL)
        texts = [" ".join(_text(re.sub("<br[^>]*>", " ", inner)).split()) for *_, inner in parts]
        if all(tag == "th" for tag, *_ in parts):
            names = texts
            continue
        for column, (_, attributes, _) in list(enumerate(parts))[1:]:
            named = f" {names[column]}" if column < len(names) else ""
            where = f"{texts[0]} at {column}{named}"
            yield f"{where}: {texts[column]}"
            if hover := re.search('title="([^"]+)"', attributes):
                yield f"{where} hover: {', '.join(unescape(hover[1]).splitlines())}"


def _text(html: str) -> str:
    return unescape(re.sub("<[^>]+>", "", html))


def _plain(text: str) -> str:
    """Without marks of direction and emphasis, and without what a stopwatch said."""
    text = _ESCAPED.sub(r"\1", text)
    text = re.sub("[\u2068\u2069\u2060*`]", "", text)
    return re.sub(r"· \d+ ms", "· 0 ms", text).strip()


def _render(name: str, url: dict[str, str]) -> AppTest:
    app = AppTest.from_function(_script, default_timeout=120, kwargs={"name": name})
    for key, value in url.items():
        app.query_params[key] = value
    app.run()
    if app.exception:
        raise RuntimeError(f"{name} {url}: {app.exception[0].value}")
    return app


def _script(name: str) -> None:
    import importlib

    from viz.app.sentence import sentence_bar

    sentence_bar.show(name)
    importlib.import_module(f"viz.pages.{name}").show()


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks sentences`."""
    parser = commands.add_parser("sentences", help="what the pages say, computed once more")
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Check and print; the exit status is 1 where something is wrong."""
    report = check(SENTENCES)
    for text in (*report.wrong, *(f"unchecked: {text}" for text in report.unchecked)):
        print(text)
    print(
        f"{len(SENTENCES)} English sentences, {report.views} views: {report.checked:,} sentences "
        f"checked, {len(report.wrong)} wrong, {len(report.unchecked)} that no check expects"
    )
    if report.wrong or report.unchecked:
        sys.exit(1)
