"""A trace that shows itself in a notebook: `import viz.notebook`, then write `trace` in a cell.

Altair's figures then bring their scripts along, too, and need no network. Every cell also has a
picture, for where no script runs: GitHub, LaTeX, a PDF. The extra `notebook` has what that takes.
"""

import base64
import json
import re
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import altair as alt

from transformer.analysis.lenses import NAMES, NEEDS_NO_MODEL, VARIANTS, AnyLens, lens_trace
from transformer.errors import InputError, quoted
from transformer.kinds import Kind, Row
from transformer.trace import AttentionTrace
from transformer.translator import Translator
from viz.draw import caption, head_grid, heads_view, open_head
from viz.draw.labels import capitalised
from viz.figures import still
from viz.figures.axes import in_xml
from viz.report import PageTheme, report
from viz.site.live_page import carried_page

MAX_BYTES = 20_000_000  # size of a cell above which a warning is given
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
SCALE = 2  # pixels of a picture to a CSS pixel

Bundle = tuple[dict[str, str], dict[str, Any]]
"""Data of an output by media type, and their metadata, as IPython displays them."""

# JupyterLab takes the frame away and leaves this where a notebook is not trusted; browsers hide it
_NOT_TRUSTED = (
    "The picture is drawn by a script, and this notebook is not trusted: choose Trust Notebook, or "
    "run the cell."
)
_PLOTLY = "plotly.graph_objs._figure.Figure"  # by name, as not every notebook loads it
_STILL = "Run the notebook for the interactive page."
_LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    '<text y="16" font-family="sans-serif">%s</text></svg>'
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
    """A page in a frame, which separates its styles from the notebook's."""

    page: str = field(repr=False)
    title: str = "Attention heads"
    height: str = "60rem"
    draw: Callable[[], dict[str, Any]] | None = field(default=None, repr=False, compare=False)
    """Function that returns the specification of the picture, for where no script runs."""

    def _repr_html_(self) -> str:
        # in Markdown an empty line ends HTML: there is no line end but as a character reference
        page = escape(self.page).replace("\r", "&#13;").replace("\n", "&#10;")
        return (
            f'<iframe srcdoc="{page}" title="{self.title}" '
            f'style="width:100%;height:{self.height};border:0">{_NOT_TRUSTED}</iframe>'
        )

    def _repr_mimebundle_(self, **_formats: Any) -> Bundle:
        html = {"text/html": self._repr_html_()}
        if self.draw is None or not find_spec("vl_convert"):  # the extra `notebook` has it
            return html, {}
        pictures, metadata = _picture(self.draw(), self.title)
        return html | pictures, metadata


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    # a map has more squares than Altair allows rows, and a notebook may have its own setting
    with alt.data_transformers.enable("default", max_rows=None):
        return chart.to_dict()


def _picture(spec: dict[str, Any], title: str) -> Bundle:
    """Draw a chart as PNG; return nothing if that needs more than the chart has."""
    import vl_convert
    from PIL import Image

    text = json.dumps(in_xml(spec), ensure_ascii=False)
    try:
        drawn = vl_convert.vegalite_to_png(
            text, vl_version=VEGA_LITE, scale=SCALE, allowed_base_urls=[]
        )
    except ValueError:  # data from elsewhere, which the page alone may ask for
        return {}, {}
    _warn_of_boxes(text)
    png, image = BytesIO(), Image.open(BytesIO(drawn))
    few = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(png, "PNG", optimize=True)
    width, height = (pixels // SCALE for pixels in image.size)
    shown = {"width": width, "height": height, "alt": title}
    return {"image/png": base64.b64encode(png.getvalue()).decode()}, {"image/png": shown}


def _warn_of_boxes(text: str) -> None:
    """Warn if a text has letters of a script for which this machine has no font."""
    import vl_convert

    plain = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text)
    # one letter of each script, but Latin; no font has the one that they are compared with
    letters = {unicodedata.name(c, "")[:4]: c for c in plain if c > "ɏ" and c.isalpha()}.values()
    box, *drawn = (vl_convert.svg_to_png(_LETTER % c) for c in ("\U0010fffd", *letters))
    if boxes := [c for c, picture in zip(letters, drawn, strict=True) if picture == box]:
        problem = f"The stored picture has empty boxes, as no font on this machine has {boxes}"
        warnings.warn(f"{problem}: install one, such as Noto Sans.", stacklevel=2)


def explore(
    trace: AttentionTrace | Sequence[Any] | None = None,
    tokens: Any = None,
    *,
    live: bool = False,
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
        trace: the trace to show; or the attentions of a model of one stack, with its tokens, as
            `AttentionTrace.from_huggingface` takes them. A live page needs none.
        tokens: the tokens of such attentions.
        live: whether to show the page with the model in it, which translates what you type, as a
            site has it. It needs no network; the notebook keeps 16.9 MB of the bundled model, in
            weights rounded to 8 bits. It begins with the sentence of the trace and takes
            `translator`, by default the bundled model, and `theme`; the page has the other choices.
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
    if live:
        others = (tokens, selected, over, kinds, layers, words, not special, not sinks, rows)
        if any(others) or (sort, lens) != (head_grid.LAYER_ORDER, "weights"):
            raise InputError(
                "A live page takes a trace, translator= and theme=: leave out the other options, "
                "or live=True."
            )
        text = "" if trace is None else _checked_trace(trace).source
        page = carried_page(translator or Translator.load(), text, theme)
        return HtmlFrame(page, "The model at work")
    if tokens is not None:
        trace = AttentionTrace.from_huggingface(trace, tokens)
    trace = _checked_trace(trace)
    kind, layer, head = (None, 0, 0) if selected is None else _head(selected, ("cross", 0, 0))
    options = heads_view.ExplorerOptions(
        kind,
        layer,
        head,
        words=words,
        special=special,
        over=tuple(_head(head, (0, 1)) for head in _several(over, "over") or ()),
        kinds=_several(kinds, "kinds"),
        layers=_several(layers, "layers"),
        sort=sort,
        lens=lens,
        sinks=sinks,
        rows=rows,
    )
    through = _through(lens, translator, trace)
    view = heads_view.HeadsView(through, options)
    page = report(through, options, theme=theme)
    if len(page) > MAX_BYTES:
        fits = max(1, len(view.shown.layers) * MAX_BYTES // len(page))
        warnings.warn(
            f"This cell holds {len(page) / 1e6:,.0f} MB, which the notebook keeps: show fewer "
            f"layers, such as layers={[*view.shown.layers[:fits]]}, or fewer kinds=, or a shorter "
            f"text.",
            stacklevel=2,
        )
    return HtmlFrame(page, draw=lambda: _specification(_still(view)))


def svg(
    trace: AttentionTrace,
    kind: Kind,
    layer: int | None,
    head: int | None,
    *,
    words: bool = False,
    special: bool = True,
    lens: AnyLens = "weights",
    sinks: bool = True,
    translator: Translator | None = None,
    rows: Row | None = None,
) -> str:
    """Draw the map of one head as an SVG file for a paper, with its name, axes and caption.

    Layer and head count from 0; None is the mean. The options are those of `explore`. With the
    translator, the caption names the model, too. The extra `notebook` has what this takes.

    Raises:
        InputError: for the reasons of `explore`; if that extra is not installed.
    """
    through = _through(lens, translator, _checked_trace(trace))
    if not find_spec("vl_convert"):
        raise InputError(
            "svg() draws with vl-convert, which is not installed: run pip install "
            "'headlight-attention[notebook]'."
        )
    import vl_convert

    options = heads_view.ExplorerOptions(
        kind, layer, head, words=words, special=special, lens=lens, sinks=sinks, rows=rows
    )
    origin = caption.Origin(trace.source, trace.target, "", "")
    if translator:
        origin = caption.Origin.from_translator(translator, trace.source, trace.target)
    view = heads_view.HeadsView(through, options, origin)
    chart: Any = _still(view)
    chart.hconcat = chart.hconcat[:1]
    chart.title.text = [part for line in view.caption() for part in textwrap.wrap(line, 80)]
    spec = json.dumps(in_xml(_specification(chart)), ensure_ascii=False)
    drawn: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    return drawn


def _still(view: heads_view.HeadsView) -> alt.TopLevelMixin:
    """Draw the open map of a page, and beside it all heads of its kind."""
    kind, options, heads = view.kind, view.options, view.heads[view.kind]
    drawn, axes = view.opened, view.axes(kind, options.rows)
    look: dict[str, Any] = {"kind": kind, "titles": axes.titles, "title": drawn.title}
    amount = view.look.amount
    charts = [still.large_map(drawn.weights, *axes.labels, amount=amount, **look)]
    counts = heads.counts if caption.tells_heads(heads.lens) else [*map(bool, heads.counts)]
    layers = [layer for layer in view.shown.layers if layer < len(counts) and counts[layer]]
    if layers:
        outlined = open_head.outlined(heads.lens, options.layer, options.head)
        name = capitalised(caption.grid_caption(heads.lens, sinks=heads.sinks).rstrip("."))
        look = {"kind": kind, "title": name, "outlined": outlined}
        weights = heads.axes.weights
        charts.append(still.small_maps(weights, layers=layers, counts=counts, **look))
    below = alt.Title(_STILL, orient="bottom", anchor="start", fontSize=11, fontWeight="normal")
    return alt.hconcat(*charts, title=below, spacing=30).configure_view(stroke=None)


def _head(given: Any, example: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check that a head has as many parts as an example."""
    if not isinstance(given, list | tuple) or len(given) != len(example):
        raise InputError(f"{quoted(given)} is not a head: give one such as {example}.")
    return tuple(given)


def _several(given: Any, name: str) -> Any:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}={quoted(given)} is not a list: put it into brackets.")
    return tuple(given)


def _checked_trace(trace: object) -> AttentionTrace:
    if not isinstance(trace, AttentionTrace):
        raise InputError(
            f"This is not an attention trace but {quoted(type(trace).__name__)}: make one with "
            f"from_arrays or from_huggingface."
        )
    return trace


def _through(lens: AnyLens, translator: Translator | None, trace: AttentionTrace) -> AttentionTrace:
    needs_model = lens in [*NAMES, *VARIANTS] and lens not in NEEDS_NO_MODEL
    if needs_model and translator is None:
        raise InputError(
            f"The lens {lens} runs the model, and a trace holds none: give explore() the "
            f"translator that made it, or take one of {', '.join(sorted(NEEDS_NO_MODEL))}."
        )
    return lens_trace(lens, translator, trace)


def show_chart(spec: dict[str, Any], **_options: Any) -> Bundle:
    """Render an Altair chart in a frame, with Vega's scripts in it, and as a picture."""
    # no `<` of a token can close the script
    text = json.dumps(spec).replace("<", "\\u003c")
    page = _CHART.format(vega=_vega(), spec=text)
    return HtmlFrame(page, "Chart", "30rem", lambda: spec)._repr_mimebundle_()


def _show_plotly(figure: Any) -> None:
    """Show a Plotly figure as Plotly does, with a picture if it is of attention."""
    chart, bundle = still.plotly_map(figure), figure._repr_mimebundle_()
    if chart is None or not bundle:  # a terminal shows its figures elsewhere
        figure._ipython_display_()
        return
    pictures, metadata = _picture(_specification(chart), "Attention")
    sys.modules["IPython"].display.display(bundle | pictures, metadata=metadata, raw=True)


@cache
def _vega() -> str:
    """Return the JavaScript of Vega-Embed, Vega-Lite and Vega, in the versions of Altair."""
    import vl_convert  # of the extra `notebook`

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)


def enable() -> bool:
    """Let traces and Altair charts show themselves in IPython; return False where none runs."""
    # it is imported if IPython runs, and need not be installed otherwise
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return False
    display = shell.display_formatter
    display.mimebundle_formatter.for_type(
        AttentionTrace, lambda trace, **_formats: explore(trace)._repr_mimebundle_()
    )
    if find_spec("vl_convert"):  # holds the scripts; without it Altair fetches them
        display.ipython_display_formatter.for_type(_PLOTLY, _show_plotly)
        alt.renderers.register("headlight", show_chart)
        alt.renderers.enable("headlight")
    return True


enable()
