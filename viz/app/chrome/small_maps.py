"""Small map of one head on one sentence, which several pages draw."""

from transformer import AttentionTrace
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads.head import Head
from viz.app.chrome.charts import altair_chart
from viz.draw.palette import COLOR
from viz.figures.small_map import small_map


def draw_small_map(trace: AttentionTrace, head: Head, *, key: str, alt: str) -> None:
    """Draw where a head looks in a sentence, in the colour of its kind."""
    axes = by_pieces(trace, head.kind)
    chart = small_map(
        axes.weights[head.layer, head.head],
        *axes.labels,
        title=f"{head.title} · {trace.source}",
        color=COLOR[head.kind],
        reads=axes.reads,
        writes=axes.writes,
    )
    altair_chart(chart, key=key, alt=alt)
