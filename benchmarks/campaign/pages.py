"""Hostile values in the address: every parameter of every page, through the app as it runs."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from benchmarks.campaign.outcome import Outcome, Verdict
from transformer.files.installed import FILES

Value = str | list[str]
Query = Mapping[str, Value]

ENTRANCE = "pages"
LIMIT = 20.0
"""Seconds that a page may take."""

VIEWS: dict[str, tuple[Query, ...]] = {
    "translate": ({},),
    "heads": (
        {},
        {"view": "step by step"},
        {"view": "compare"},
        {"view": "compare", "with": "another sentence"},
    ),
    "inside": ({},),
    "roles": (
        {},
        *({"roles_view": "Take away", "removed_how": how} for how in ("painted", "patched z")),
        *({"roles_view": view} for view in ("Why this word", "Layer by layer", "Faithful?")),
        {"roles_view": "Faithful?", "faithful_test": "permuted attention"},
    ),
    "masks": ({}, {"mask-view": "shift right"}, {"mask-view": "take it away"}),
    "positions": (
        {},
        *({"pe_view": view} for view in ("Curves", "Similarity", "Rotation")),
        *({"pe_view": view} for view in ("Your sentence", "Learned", "Beyond", "Without")),
    ),
    "schedule": ({},),
    "training": ({}, {"training_view": "Heads forming"}),
    "architecture": (
        {},
        *({"arch_view": view} for view in ("parameters", "work and memory", "norms")),
        {"arch_view": "tables 2 and 3"},
    ),
}
"""What opens each view: its parameters are those of its widgets."""

UNBOUND = {"inside": ("at",)}
"""Parameters that belong to no widget."""

ALONE = frozenset({"text", "more", "text2", "view", "with", "mask-view", "pe_view"}) | {
    *("training_view", "arch_view", "roles_view")
}
"""Tried one at a time: they decide whether the other parameters are read."""

VALUES: tuple[Value, ...] = (
    *("Infinity", "-Infinity", "inf", "NaN", "-nan", "1e999", "-1e999", "1e308", "1e15", "5e-324"),
    *("0", "-0", "-1", "1.5", "2", "99", "1_0", "0x10", "٣", "½", "+1", " 1 ", "1,5", "٫"),
    *("2147483648", "-2147483649", "9007199254740993", "9223372036854775808", "9" * 400),
    *("9" * 5000, "0." + "0" * 400 + "1", "2000-01-01", "12:30", "2000-01-01T00:00", "true"),
    *("False", "null", "None", "mean", "encoder", "[]", "{}", "__proto__", "\x00", "1\x00"),
    *("", " ", "\t\n", "\ufffd", "\u202e1", "\u200b", "é" * 50, "😀" * 40, "x" * 300, "x" * 9000),
    *("~nosuchuser", "~", "~/..", "../../../etc/passwd", "/proc/1/root", "/dev/zero", "runs/.."),
    *("C:\\x", "file:///etc/passwd", "<script>alert(1)</script>", "**b** $x$ :smile: [a](b)"),
    *("%", "%s", "{0}", "a&b=c", "#", "L1 H1", "512 · 4000", "0 · 0", "9999999 · 9999999"),
    *(["1", "2"], ["", "Infinity"], ["nan", "1"], ["x"] * 50, ["1"] * 100, ["", ""], ["512·4"] * 9),
)


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Try so many values, each once under its parameter and view; several stand in one address."""
    chance = random.Random(seed)
    addresses = [
        (page, view, query)
        for page, views in VIEWS.items()
        for view in views
        for query in _queries(_tried_in(page, view), chance)
    ]
    chance.shuffle(addresses)
    for page, view, query in addresses:
        if count <= 0:
            return
        tried = dict(list(query.items())[:count])
        count -= len(tried)
        yield from _try(page, view, tried)


def _tried_in(page: str, view: Query) -> list[str]:
    """The parameters of one view; those of the bar count with the first view of a page."""
    names = [name for name in _parameters(page, view) if name not in view]
    return [n for n in names if view == VIEWS[page][0] or n not in ("text", "beam")]


def _parameters(page: str, view: Query) -> list[str]:
    """The names that the widgets of a view read from the address."""
    app = _opened(page, view)
    bound = [getattr(node.proto, "query_param_key", "") for node in app.main]
    return [*dict.fromkeys(name for name in bound if name), *UNBOUND.get(page, ())]


def _queries(names: list[str], chance: random.Random) -> Iterator[dict[str, Value]]:
    """Every value once under every name; what counts alone stands alone, the rest side by side."""
    together = [name for name in names if name not in ALONE]
    orders = {name: chance.sample(VALUES, len(VALUES)) for name in names}
    for number in range(len(VALUES)):
        yield {name: orders[name][number] for name in together}
        for name in names:
            if name in ALONE:
                yield {name: orders[name][number]}


def _try(page: str, view: Query, query: Mapping[str, Value]) -> Iterator[Outcome]:
    why, seconds, left = _open(page, {**view, **query})
    for name, value in query.items():
        alone, took = why, seconds
        if why and len(query) > 1:  # which of them it was
            alone, took, left = _open(page, {**view, name: value})
        verdict: Verdict = "bad" if alone else "accepted" if name in left else "refused"
        at = "&".join([*(f"{key}={view[key]}" for key in view), f"{name}={_shown(value)}"])
        yield Outcome(ENTRANCE, f"{page}?{at}", verdict, alone, took)


def _shown(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text):,} characters)"


def _open(page: str, query: Query) -> tuple[str, float, set[str]]:
    """What was bad, the seconds that it took, and the names that stayed in the address."""
    begin = time.perf_counter()
    with _logged() as log:
        try:
            app = _opened(page, query)
        except RuntimeError as error:  # too slow
            return str(error), time.perf_counter() - begin, set()
    seconds = time.perf_counter() - begin
    boxes = [f"error box: {box.message or box.value}" for box in app.exception]
    return "; ".join([*boxes, *log]), seconds, set(app.query_params)


def _opened(page: str, query: Query) -> AppTest:
    """The app at an address, in a session of its own."""
    app = AppTest.from_file(str(FILES / "app.py"), default_timeout=LIMIT)
    # Streamlit's tests walk to files; ours are pages by their path
    app._page_hash = calc_hash("" if page == "translate" else page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What Streamlit logs as an error, as one line each; a context manager."""
    found: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(f"log: {record.getMessage():.200}")

    handler = Collect(logging.ERROR)
    loggers = [logging.getLogger(), logging.getLogger("streamlit")]
    for one in loggers:
        one.addHandler(handler)
    try:
        yield found
    finally:
        for one in loggers:
            one.removeHandler(handler)
