"""The same in BertViz and here, one line each; `python -m benchmarks notebook` runs every one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks import bertviz, notebook_models
from benchmarks.notebook_models import PAIR, SENTENCE, SOURCE, TARGET, Made
from transformer import AttentionTrace, HeadlightError
from viz.notebook import HtmlFrame, explore
from viz.report import report

ENCODER_DECODER = (
    "encoder_attention=outputs.encoder_attentions, decoder_attention=outputs.decoder_attentions, "
    "cross_attention=outputs.cross_attentions, encoder_tokens=encoder_tokens, "
    "decoder_tokens=decoder_tokens"
)
EXPLORE = "explore(AttentionTrace.from_huggingface(outputs, tokens))"
EXPLORE_BOTH = "explore(AttentionTrace.from_huggingface(outputs, encoder_tokens, decoder_tokens))"


class Line(NamedTuple):
    """One wish.

    Args:
        wish: in words.
        model: a name of `MODELS`.
        theirs: the line for BertViz; none where it has no such thing.
        ours: the line here.
    """

    wish: str
    model: str
    theirs: str | None
    ours: str


LINES = (
    Line("every head of a BERT", "bert", "head_view(outputs.attentions, tokens)", EXPLORE),
    Line(
        "a sentence pair",
        "pair",
        "head_view(outputs.attentions, tokens, sentence_b_start)",
        "explore(AttentionTrace.from_huggingface(outputs, tokens, second_start=sentence_b_start))",
    ),
    Line(
        "a pair, as the tokenizer gives it",
        "pair",
        None,
        "explore(AttentionTrace.from_huggingface(outputs, inputs, tokenizer=tokenizer))",
    ),
    Line("all layers at a glance", "pair", "model_view(outputs.attentions, tokens)", EXPLORE),
    Line("a GPT", "gpt2", "model_view(outputs.attentions, tokens)", EXPLORE),
    Line("encoder and decoder", "t5", f"model_view({ENCODER_DECODER})", EXPLORE_BOTH),
    Line(
        "what `generate` returned",
        "t5",
        None,
        "explore(AttentionTrace.from_huggingface(generated, inputs, tokenizer=tokenizer))",
    ),
    Line(
        "arrays of your own",
        "bert",
        "head_view([torch.tensor(layer)[None] for layer in arrays], tokens)",
        "explore(AttentionTrace.from_arrays(encoder_self=arrays, source_tokens=tokens))",
    ),
    Line(
        "one head first",
        "bert",
        "head_view(outputs.attentions, tokens, layer=2, heads=[3])",
        'explore(trace, selected=("encoder_self", 2, 3))',
    ),
    Line(
        "several heads over each other",
        "bert",
        "head_view(outputs.attentions, tokens, layer=2, heads=[3, 5])",
        'explore(trace, selected=("encoder_self", 2, 3), over=[(2, 5)])',
    ),
    Line(
        "some layers",
        "bert",
        "model_view(outputs.attentions, tokens, include_layers=[0, 11])",
        "explore(trace, layers=[0, 11])",
    ),
    Line(
        "dark",
        "bert",
        'model_view(outputs.attentions, tokens, display_mode="dark")',
        'explore(trace, theme="dark")',
    ),
    Line("whole words", "pair", None, "explore(trace, words=True)"),
    Line(
        "several tokens summed",
        "bert",
        None,
        "trace.encoder_self[2, 3, [1, 2]].sum(axis=0)",
    ),
    Line(
        "one HTML file",
        "bert",
        'Path("heads.html").write_text('
        'head_view(outputs.attentions, tokens, html_action="return").data)',
        'Path("heads.html").write_text(report(trace), encoding="utf-8")',
    ),
)
MODELS: dict[str, Callable[[], Made]] = {
    "bert": lambda: notebook_models.bert([SENTENCE]),
    "pair": lambda: notebook_models.bert(PAIR),
    "gpt2": lambda: notebook_models.gpt2(SENTENCE),
    "t5": lambda: notebook_models.t5(SOURCE, TARGET),
}


def variables(made: Made) -> dict[str, Any]:
    """What a person has in the notebook before either line."""
    names = {"inputs": made.inputs, "outputs": made.outputs, "tokenizer": made.tokenizer}
    ids = made.inputs["input_ids"][0].tolist()
    tokens = made.tokenizer.convert_ids_to_tokens(ids)
    names.update(tokens=tokens, encoder_tokens=tokens)
    if "decoder_input_ids" in made.inputs:
        read = made.inputs["decoder_input_ids"][0].tolist()
        names["decoder_tokens"] = made.tokenizer.convert_ids_to_tokens(read)
        names["generated"] = made.model.generate(
            input_ids=made.inputs["input_ids"],
            max_new_tokens=12,
            output_attentions=True,
            return_dict_in_generate=True,
        )
        return names
    names["trace"] = AttentionTrace.from_huggingface(made.outputs, tokens)
    if names["trace"].encoder_self.size:
        names["arrays"] = names["trace"].encoder_self
    if "[SEP]" in tokens:
        names["sentence_b_start"] = tokens.index("[SEP]") + 1
    return names


def ours(line: str, names: dict[str, Any]) -> Any:
    """The value of a line that is written here."""
    own = {"explore": explore, "AttentionTrace": AttentionTrace, "report": report, "Path": Path}
    return eval(line, {**own, **names})


def theirs(line: str, names: dict[str, Any]) -> str:
    """What a line for BertViz hands to the notebook, as HTML."""
    with bertviz.displayed() as shown:
        eval(line, {**bertviz.views(), "torch": torch, "Path": Path, **names})
    return "".join(shown)


def check(line: Line, names: dict[str, Any]) -> None:
    """Run both in the current folder.

    Raises:
        HeadlightError: if one gives nothing to see.
    """
    value = ours(line.ours, names)
    shown = value._repr_html_() if isinstance(value, HtmlFrame) else ""
    if not (shown if line.ours.startswith("explore") else _written(value)):
        raise HeadlightError(f"{line.ours} shows nothing.")
    if line.theirs is None:
        return
    saved = line.theirs.startswith("Path")
    if not (theirs(line.theirs, names) or (saved and _written(1))):
        raise HeadlightError(f"{line.theirs} shows nothing.")


def _written(value: Any) -> bool:
    """Whether a file was written, or these are numbers; the file is taken away."""
    path = Path("heads.html")
    if not path.exists():
        return hasattr(value, "sum") and bool(value.sum() > 0)
    written = path.stat().st_size > 1000
    path.unlink()
    return written


def table() -> str:
    """The lines as a table in Markdown."""
    rows = [
        f"| {line.wish} | {f'`{line.theirs}`' if line.theirs else 'not there'} | `{line.ours}` |"
        for line in LINES
    ]
    return "\n".join(("| | BertViz 1.4 | Headlight |", "|---|---|---|", *rows))
