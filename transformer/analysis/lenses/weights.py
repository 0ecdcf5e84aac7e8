"""The attention weights themselves."""

from transformer.analysis.lenses.names import Lens
from transformer.analysis.teacher_forcing import LayerMeasure, patterns
from transformer.attention import attention_scores

WEIGHTS = Lens(
    name="weights",
    title="weights",
    about="what attention computes: each row sums to 1",
    shares="weights",
    formula=r"$\mathrm{softmax}(QK^\top/\sqrt{d_k})$ of equation 1",
    function=attention_scores,
    measure=LayerMeasure(lambda model, kind: model.attention_points(kind, "pattern"), patterns),
    has_heads=True,
    of_trace=lambda trace, kind, _: trace.weights(kind),
)
