"""Table 2 on its page: BLEU over the cost of training, and what training took."""

import re
from pathlib import Path

import pandas as pd
import streamlit as st

from training.run import journal
from transformer.files.documents import parse_json
from transformer.files.installed import BUNDLED
from transformer.paper.results import (
    EN_DE,
    EN_FR,
    SUSTAINED,
    TABLE_2,
    TEXTS,
    TRAININGS,
    ReportedModel,
)
from viz.app.chrome import charts
from viz.app.view import compute, figure
from viz.draw.formatting import format_number
from viz.figures.paper_results import cost_chart

PAIRS = {EN_DE: "English to German", EN_FR: "English to French"}
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def show() -> None:
    """Draw the charts of both language pairs, what training took, and Table 2."""
    with st.container(key="tables-picture"):
        for column, (pair, name) in zip(st.columns(2, gap="medium"), PAIRS.items(), strict=True):
            with column:
                st.subheader(name, anchor=False)
                charts.altair_chart(
                    figure(name.lower().replace(" ", "_"), cost_chart, pair),
                    alt=f"BLEU of each model of Table 2 over its training cost, {name}.",
                )
                st.text(compare(pair))
    base = TRAININGS["base"]
    st.caption(
        "Higher is better, and further left is cheaper. The paper estimates the operations as the "
        f"time × the number of GPUs × what one sustains (a P100: {SUSTAINED / 1e12:g} TFLOPS): "
        f"{base.hours:g} hours on {base.gpus} P100 are {scientific(base.flops)}."
    )
    st.subheader("What training took", anchor=False)
    bundled = compute("bundled", bundled_run, BUNDLED)
    took = compute("took", costs, bundled)
    st.dataframe(took, hide_index=True, height="content", width=820, key="tables-costs")
    if bundled is None:
        st.text("The bundled model has no run.jsonl and MODEL_CARD.md that can be read.")
    else:
        st.text(
            "The bundled model is the mean of this run and of later ones, which its model card "
            "lists with their hours. Its BLEU is that of other test sets: see the card, too."
        )
    st.subheader("Table 2: BLEU on newstest2014, and the cost of training", anchor=False)
    printed = compute("printed", table_2)
    st.dataframe(printed, hide_index=True, height="content", width=820, key="arch-table-2")


def compare(pair: str) -> str:
    """Compare the two Transformers of Table 2 with the best model before them."""
    rows = [model for model in TABLE_2 if pair in model.flops]
    best = max((row for row in rows if row.kind != "Transformer"), key=lambda row: _bleu(row, pair))
    base, big = (row for row in rows if row.kind == "Transformer")
    gain = format_number(_bleu(big, pair) - _bleu(best, pair), 1)
    shares = [f"{100 * row.flops[pair] / best.flops[pair]:.2g}\u00a0%" for row in (big, base)]
    without = [row.name for row in TABLE_2 if pair in row.bleu and pair not in row.flops]
    missing = f" The paper gives no cost of {without[0]}." if without else ""
    return (
        f"{big.name} has {big.bleu[pair]} BLEU, {gain} more than the best before it "
        f"({best.name}, {best.bleu[pair]}), for {shares[0]} of its training cost. {base.name} has "
        f"{base.bleu[pair]} for {shares[1]}.{missing}"
    )


def _bleu(model: ReportedModel, pair: str) -> float:
    return float(model.bleu[pair])


def bundled_run(folder: Path) -> list[str] | None:
    """Format what a model's first run took, by its log and model card; None without such files."""
    try:
        log = journal.read(folder / "run.jsonl")
        card = (folder / "MODEL_CARD.md").read_text("utf-8")
        shape = parse_json((folder / "config.json").read_text("utf-8"))
        plan, last = journal.plan(log), [record for record in log if "seconds" in record][-1]
        machine = re.search(r"\| first run \|.* in [\d.]+ h on ([^,|]+)", card)
        steps, seconds = int(last["step"]), float(last["seconds"])
        return [
            f"{plan['pairs']:,}", "", f"{shape['vocab_size']:,}", "", machine[1] if machine else "",
            f"{steps:,}", f"{plan['batch_tokens']:,}", f"{seconds / steps:.2f}",
            f"{seconds / 3600:.1f} hours", "",
        ]  # fmt: skip
    except (OSError, journal.RunLogError, ValueError, KeyError, IndexError, TypeError):
        return None


def costs(bundled: list[str] | None) -> pd.DataFrame:
    """Tabulate what the paper's trainings took, and the bundled one."""
    by_pair = [f"{quantity} {pair}" for quantity in ("sentence pairs", "pieces") for pair in PAIRS]
    alone = "machine", "steps", "tokens a step, each side", "seconds a step", "time", "FLOPs"
    table: dict[str, list[str]] = {"": [*by_pair, *alone]}
    for name, training in TRAININGS.items():
        days = training.hours / 24
        table[f"Transformer ({name})"] = [
            *(f"{text.pairs / 1e6:g} million" for text in TEXTS.values()),
            *(f"{text.pieces:,}" for text in TEXTS.values()),
            f"{training.gpus} NVIDIA P100",
            f"{training.steps:,}",
            f"about {training.batch_tokens:,}",
            f"{training.seconds_per_step:.1f}",
            f"{days:g} days" if days > 1 else f"{training.hours:g} hours",
            scientific(training.flops),
        ]
    if bundled is not None:
        table["bundled model, first run"] = bundled
    return pd.DataFrame(table)


def table_2() -> pd.DataFrame:
    """Build Table 2 as text; a cell is empty where the paper prints nothing."""
    return pd.DataFrame(
        {
            "model": [model.name for model in TABLE_2],
            **{f"BLEU {pair}": [model.bleu.get(pair, "") for model in TABLE_2] for pair in PAIRS},
            **{
                f"FLOPs {pair}": [scientific(model.flops.get(pair)) for model in TABLE_2]
                for pair in PAIRS
            },
        }
    )


def scientific(number: float | None) -> str:
    """Format a number such as 3.3 · 10¹⁸; None as an empty text."""
    if number is None:
        return ""
    digits, power = f"{number:.1e}".split("e+")
    return f"{digits} · 10{power.translate(_DIGITS)}"
