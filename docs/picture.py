"""Directive `picture`: a block of Python, and below it the figure that its last line makes.

The blocks of a page share their names. An Altair chart becomes SVG, a Plotly figure is drawn by
the script of the installed package, an explorer stands in a frame. Nothing comes from elsewhere.
"""

import ast
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import altair as alt
import plotly.graph_objects as go
import plotly.offline
import vl_convert
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from viz.notebook import HtmlFrame

PLOTLY = "plotly.min.js"


class Picture(SphinxDirective):
    """The code of a figure and the figure; the argument is its description."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"height": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Run the code, and return it with its figure."""
        code = "\n".join(self.content)
        namespace = self.env.temp_data.setdefault("picture", {})
        *statements, last = ast.parse(code).body
        exec(compile(ast.Module(statements, []), self.env.docname, "exec"), namespace)
        assert isinstance(last, ast.Expr), "the last line of a picture is its figure"
        figure = eval(compile(ast.Expression(last.value), self.env.docname, "eval"), namespace)
        block = nodes.literal_block(code, code, language="python")
        html = _html(figure, self.options.get("height", "40rem"))
        label = escape(self.arguments[0])
        frame = f'<div class="picture" role="group" aria-label="{label}" tabindex="0">{html}</div>'
        return [block, nodes.raw("", frame, format="html")]


def _html(figure: object, height: str) -> str:
    if isinstance(figure, alt.TopLevelMixin):
        svg: str = vl_convert.vegalite_to_svg(figure.to_dict())
        return svg
    if isinstance(figure, go.Figure):
        html: str = figure.to_html(full_html=False, include_plotlyjs=False)
        # a module waits for the script of Plotly, which the theme puts at the end of the page
        return html.replace("<script>", '<script type="module">')
    assert isinstance(figure, HtmlFrame), f"no picture is made of {type(figure).__name__}"
    frame = figure._repr_html_().replace("<iframe ", '<iframe loading="lazy" ', 1)
    return frame.replace("height:60rem", f"height:{height}", 1)


def _add_plotly(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    if "plotly-graph-div" in context.get("body", ""):
        app.add_js_file(PLOTLY, priority=100)


def _write_plotly(app: Sphinx) -> None:
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PLOTLY).write_text(plotly.offline.get_plotlyjs(), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and the script of Plotly on pages that need it."""
    app.add_directive("picture", Picture)
    app.connect("html-page-context", _add_plotly)
    app.connect("builder-inited", _write_plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
