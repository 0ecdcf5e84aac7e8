"""A trace that shows itself in a notebook: `import viz.notebook`, then write `trace` in a cell.

Altair's figures then bring their scripts along, too, and need no network: the extra `notebook` has
what that takes.
"""

import json
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.util import find_spec
from typing import Any

import altair as alt

from transformer.analysis.lenses import NAMES, NEEDS_NO_MODEL, VARIANTS, AnyLens, lens_trace
from transformer.errors import InputError, quoted
from transformer.kinds import Kind, Row
from transformer.trace import AttentionTrace
from transformer.translator import Translator
from viz.draw import head_grid, heads_view
from viz.report import PageTheme, report

MAX_BYTES = 20_000_000
"""Size of a cell above which a warning is given."""

# JupyterLab takes the frame away and leaves this where a notebook is not trusted; browsers hide it
_NOT_TRUSTED = (
    "The picture is drawn by a script, and this notebook is not trusted: choose Trust Notebook, or "
    "run the cell."
)
_CHART = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Chart</title><style>body {{ margin: 0 }}</style></head>
<body>
<div id="chart">A script draws the chart, but it has not run: allow scripts.</div>
<script>{vega}</script>
<script>
vegaEmbed("#chart", {spec}, {{ mode: "vega-lite", actions: false }});
new ResizeObserver(() => {{
  frameElement.style.height = `${{document.documentElement.offsetHeight + 4}}px`;
}}).observe(document.body);
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class HtmlFrame:
    """A page in a frame, which separates its styles from the notebook's.

    It has the height until the page's script measures its own.
    """

    page: str = field(repr=False)
    title: str = "Attention heads"
    height: str = "60rem"

    def _repr_html_(self) -> str:
        # in Markdown an empty line ends HTML: there is no line end but as a character reference
        page = escape(self.page).replace("\r", "&#13;").replace("\n", "&#10;")
        return (
            f'<iframe srcdoc="{page}" title="{self.title}" '
            f'style="width:100%;height:{self.height};border:0">{_NOT_TRUSTED}</iframe>'
        )


def explore(
    trace: AttentionTrace,
    *,
    selected: tuple[Kind, int | None, int | None] | None = None,
    over: Sequence[tuple[int, int]] = (),
    kinds: Sequence[Kind] | None = None,
    layers: Sequence[int] | None = None,
    words: bool = False,
    special: bool = True,
    sort: str = head_grid.LAYER_ORDER,
    theme: PageTheme = "auto",
    lens: AnyLens = "weights",
    sinks: bool = True,
    translator: Translator | None = None,
    rows: Row | None = None,
) -> HtmlFrame:
    """Show all heads of a trace in a notebook, one of them large.

    The trace can be of any model; see `AttentionTrace.from_arrays` and `from_huggingface`.

    Args:
        trace: the trace to show.
        selected: the kind, layer and head that is open first, from 0; None as layer or head is the
            mean.
        over: up to seven heads, as layer and head from 0, whose ribbons overlay those of the open
            head; you can add more on the page.
        kinds: the kinds of attention to show; by default, all.
        layers: the layers to show, from 0; by default, all.
        words: whether to show whole words instead of pieces.
        special: whether to show special tokens such as `<s>` and `</s>`.
        sort: the order of the heads, from `viz.draw.head_grid.SORTS`.
        theme: the theme; "auto" follows the notebook.
        lens: the lens of every map.
        sinks: False leaves out special tokens and punctuation, and scales each row to the rest;
            the page says how much is left out.
        translator: the translator that made the trace, for lenses that run its model.
        rows: whether ribbons name a row of the decoder by what it "reads" or "writes"; the map
            shows both. By default, rows of cross-attention are named by what they write.

    Raises:
        InputError: if there is no such kind, layer, head, lens, order, row or theme; if there is no
            translator for the lens; if no token is left to show.
    """
    if not isinstance(trace, AttentionTrace):
        raise InputError(
            f"This is no attention trace but {quoted(type(trace).__name__)}: make one with "
            f"AttentionTrace.from_arrays or from_huggingface."
        )
    kind, layer, head = _triple(selected)
    options = heads_view.ExplorerOptions(
        kind,
        layer,
        head,
        words=words,
        special=special,
        over=_over(over),
        kinds=_several(kinds, "kinds"),
        layers=_several(layers, "layers"),
        sort=sort,
        lens=lens,
        sinks=sinks,
        rows=rows,
    )
    page = report(_through(lens, translator, trace), options, theme=theme)
    if len(page) > MAX_BYTES:
        warnings.warn(
            f"This cell holds {len(page) / 1e6:,.0f} MB, which the notebook keeps: show fewer "
            f"layers, such as layers=[0, 1], or fewer kinds=, or a shorter text.",
            stacklevel=2,
        )
    return HtmlFrame(page)


def _triple(selected: object) -> tuple[Any, Any, Any]:
    if selected is None:
        return None, 0, 0
    if not isinstance(selected, list | tuple) or len(selected) != 3:
        raise InputError(
            f"{quoted(selected)} is no head: give its kind, layer and head, such as "
            f"('cross', 0, 0)."
        )
    return selected[0], selected[1], selected[2]


def _over(given: Any) -> tuple[tuple[Any, Any], ...]:
    pairs = _several(given, "over") or ()
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(
                f"over={quoted(given)} is no list of heads: give layer and head of each, such as "
                f"[(0, 1)]."
            )
    return tuple((layer, head) for layer, head in pairs)


def _several(given: Any, name: str) -> Any:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}={quoted(given)} is no list: put brackets around what is shown.")
    return tuple(given)


def _through(lens: AnyLens, translator: Translator | None, trace: AttentionTrace) -> AttentionTrace:
    needs_model = lens in [*NAMES, *VARIANTS] and lens not in NEEDS_NO_MODEL
    if needs_model and translator is None:
        raise InputError(
            f"The lens {lens} runs the model, and a trace holds none: give explore() the "
            f"translator that made it, or take one of {', '.join(sorted(NEEDS_NO_MODEL))}."
        )
    return lens_trace(lens, translator, trace)


def show_chart(spec: dict[str, Any], **_options: Any) -> dict[str, str]:
    """Render an Altair chart in a frame, with Vega's scripts in it."""
    # no `<` of a token can close the script
    text = json.dumps(spec).replace("<", "\\u003c")
    page = _CHART.format(vega=_vega(), spec=text)
    return {"text/html": HtmlFrame(page, "Chart", "30rem")._repr_html_()}


@cache
def _vega() -> str:
    """Return the JavaScript of Vega-Embed, Vega-Lite and Vega, in the versions of Altair."""
    import vl_convert  # of the extra `notebook`

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)


def enable() -> bool:
    """Let each trace show itself in this notebook, and Altair's figures without a network.

    False stands for code that does not run in IPython.
    """
    # it is imported if IPython runs, and need not be installed otherwise
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return False
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(AttentionTrace, lambda trace: explore(trace)._repr_html_())
    if find_spec("vl_convert"):  # holds the scripts; without it Altair fetches them
        alt.renderers.register("headlight", show_chart)
        alt.renderers.enable("headlight")
    return True


enable()
