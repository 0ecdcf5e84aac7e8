"""The view “Pairs”: which heads carry what tells two sentences apart."""

import math
from collections import Counter
from pathlib import Path

import pandas as pd
import streamlit as st

from transformer import HeadlightError, Translator
from transformer.circuits import pairs, pairs_report
from transformer.circuits.pairs import BUNDLED_PAIRS, LOST, MeasuredPairs, MinimalPair
from transformer.corpus.resampling import holm, permutation_p
from transformer.files.reading import MIB
from viz.app.cache import memory
from viz.app.cache.cached_results import identity
from viz.app.chrome import charts, explanations, problems
from viz.app.chrome.fields import choose_one, controls_row, file_field, menu, release_file
from viz.app.view import Content, Offer, compute, compute_on_request, list_file, view
from viz.draw.formatting import SEEN, counted, format_number, format_p
from viz.draw.labels import named_head
from viz.figures.heads import SIGNIFICANT
from viz.pages.corpus import head_grids

JOB = "corpus-pairs"
WHICH, GROUP = "pairs", "pairs_group"  # names in the URL
BUNDLED, OWN = "bundled pairs", "your pairs"
FILE, OPENED = "corpus-pairs-file", "corpus.pairs_file"
"""Names in the session: of the field, and of the file that was opened."""
EVERY_GROUP = "all"


@view("Pairs", needs="model", question="Which heads tell two sentences apart?")
def minimal_pairs(translator: Translator) -> None:
    """Draw what each head carries of the difference between two sentences."""
    with controls_row("corpus-pairs-controls"):
        which = choose_one("Pairs", (BUNDLED, OWN), WHICH)
    given, stored = None, None
    language, model = translator.languages.source, identity(translator)
    language = language if language in BUNDLED_PAIRS else "English"
    try:
        given = _own() if which == OWN else compute("pairs", pairs.bundled_pairs, language)
        state = memory.state_of_file(translator.folder / pairs_report.FILE)
        stored = memory.memo((FILE, model, state), lambda: pairs_report.read(translator))
    except HeadlightError as error:
        problems.say(error)
    if given is not None:
        count, known = counted(len(given), "pair"), None
        if stored is not None and [*stored.pairs] == given:
            known = stored
        offer = Offer(JOB, f"Patching {count}", f"Patch every head on {count}", known=known)
        measured = compute_on_request("measured", offer, pairs.measure_pairs, translator, given)
        if measured is not None:
            _draw(measured)
    explanations.explain(
        "Two sentences differ in one thing, and so do their translations. The page replaces the "
        "output of one head on the first sentence by that on the second, and measures how much "
        "the log-odds of the first word against the second then lose, in nats; likewise with the "
        "stream after a layer, at some positions (Meng et al. 2022). The control takes the values "
        "on the first sentence of another pair. Sentences of two lengths are aligned "
        "from both ends. Each head is patched alone: several can carry the same thing."
        + explanations.sources("", pairs.patch_pairs, pairs.encode_pair, permutation_p, holm)
    )


def _own() -> list[MinimalPair] | None:
    """Draw the field of a file; return its pairs, if there is one."""
    st.text(
        f"A line for each pair, at most {pairs.MAX_PAIRS:,}: first sentence, second sentence, a "
        f"word of the first translation, the word in its place in the second, and a group if you "
        f"like, separated by tabs."
    )
    st.code("The dog sleeps.\tThe dogs sleep.\tDer\tDie\tnumber", language=None)
    if (file := file_field("Open pairs", FILE, ["tsv", "txt"], MIB)) is not None:
        release_file(FILE)
        st.session_state[OPENED] = file
    name, content = st.session_state.get(OPENED, ("", None))
    if content is None:
        return None
    given = pairs.read_pairs(content)
    list_file("pairs", given, tuple(given), pairs.read_pairs, Content(Path(name)))
    return given


def _draw(measured: MeasuredPairs) -> None:
    """Draw the pairs of the group that the user chooses."""
    sizes = Counter(pair.group for pair in measured.pairs if pair.group)
    groups = [group for group, size in sizes.items() if size > 1]
    group = ""
    if groups:
        with controls_row("corpus-group-controls"):
            every = EVERY_GROUP
            while every in groups:
                every = f"({every})"
            chosen = menu("Group", [every, *groups], GROUP, width=160)
            group = "" if chosen == every else chosen
    shown = compute("shown", measured.in_group, group)
    table = compute("effects", pairs.effects_table, shown.patched)
    best = table.iloc[int(table[LOST].argmax())]
    head = named_head(best["kind"], best["layer"] - 1, best["head"] - 1)
    whole = float(shown.patched.whole.mean())
    value, low, high, control = (
        format_number(float(number), 2) for number in best[[LOST, "low", "high", "control"]]
    )
    number, heads = len(shown.pairs), len(table)
    strongest = "No single patched head changes them by 0.01."
    if best[LOST] >= SEEN:
        strongest = (
            f"With one head patched, they lose the most with {head}: {value} ({low} to {high}),"
        )
        strongest += f" and {control} with its control ({format_p(float(best['p']))}, Holm)."
    st.text(
        f"From the first to the second sentence, the log-odds of {counted(number, 'pair')} lose "
        f"{format_number(whole, 2)} nats on average. {strongest}"
    )
    least = pairs_needed(heads)
    st.text(
        f"{int((table['p'] < SIGNIFICANT).sum())} of {counted(heads, 'head')} differ from their "
        f"control (p < {SIGNIFICANT}, Holm)."
        if number >= least
        else f"No head can pass the test: with {heads} heads it takes {least} pairs. Read the "
        f"intervals instead, which are not corrected for the number of heads."
    )
    head_grids.show(table, LOST, "pairs-grid")
    st.caption(
        f"Mean over {counted(number, 'pair')}, in nats. A dot: p < {SIGNIFICANT} against the "
        f"control (Holm). The tooltips have the 95 % bootstrap intervals over the pairs."
    )
    head_grids.table(table, LOST, "heads-of-pairs")
    _draw_stream(compute("stream", pairs.effects_table, shown.patched, pairs.Site), whole)
    st.subheader("Pairs", anchor=False)
    listed = compute("table", pairs.pairs_table, shown)
    charts.data_table(listed, "minimal-pairs", {LOST: "%.2f"})
    if measured.left_out:
        st.text(f"Left out: {counted(len(measured.left_out), 'pair')}.")
        problems.say_of_lines(measured.left_out, "Pair")


def _draw_stream(table: pd.DataFrame, whole: float) -> None:
    """Draw what the stream carries by layer and position, of what the pairs lose in all."""
    st.subheader("By layer and position", anchor=False)
    end = table[table["stack"] == "encoder"].tail(len(pairs.POSITIONS["encoder"]))
    most, last = end.iloc[int(end[LOST].argmax())], table[table["positions"] == "last"]
    value, low, high = (format_number(float(number), 2) for number in most[[LOST, "low", "high"]])
    text = "After the last encoder layer, no position carries 0.01 nats."
    if most[LOST] >= SEEN:
        text = f"After the last encoder layer, the positions “{most['positions']}” carry the most: "
        text += f"{value} nats ({low} to {high}), in {counted(int(most['pairs']), 'pair')} that "
        text += "have them."
    if whole > 0:
        half = last.loc[last[LOST] >= whole / 2, "layer"].min()
        text += f" In the decoder, the position “last” carries half of the total from layer {half}."
    st.text(text)
    # no dots: a control loses much where other words stand, whether they differ or not
    head_grids.show(table.dropna().drop(columns="p"), LOST, "stream-grid")
    st.caption(
        "The stream is replaced after a layer (row), at some positions (column): in the encoder at "
        "subwords before the first that differs, at those that differ, after it, or at the end; in "
        "the decoder at the last position, which predicts the word, or at all earlier ones. Mean "
        "over the pairs that have such a position, in nats, with interval and control as above."
    )
    head_grids.table(table, LOST, "stream-of-pairs")


def pairs_needed(heads: int) -> int:
    """Return the pairs from which the least p, corrected for all heads, is significant."""
    return 2 + math.floor(math.log2(heads / SIGNIFICANT))  # the least p is 2 ^ (1 - pairs)
