"""Pages name the cause that was planted in a model, or claim nothing."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.transformer.circuits.planted_circuits import (
    ALIGNS,
    BY_BIAS,
    BY_FEATURE,
    BY_PLACE,
    BY_PLACE_AND_CONSTANT,
    BY_QUERY,
    EMPTY,
    INDUCTION,
    TRANSLATES,
    WRITES_BEFORE,
    planted_model,
)
from tests.viz.pages.corpus.conftest import press
from training.evaluation import measurement
from transformer import AttentionTrace, Tokenizer, Transformer, Translator
from transformer.analysis.heads.head import Head
from transformer.checkpoints import checkpoint
from transformer.circuits.dictionary import measure_dictionaries
from transformer.circuits.edges import Circuit, PatchedEdges, patch_strongest
from transformer.circuits.pairs import MeasuredPairs, MinimalPair, PatchedPairs, all_sites
from transformer.circuits.writing import written_logits
from transformer.corpus import measuring, result_file
from transformer.traces.capture import capture
from viz.app import jobs
from viz.app.chrome import head_picker
from viz.draw.labels import named_head
from viz.findings import passes
from viz.pages.corpus import dictionary, pairs
from viz.pages.inside import circuits

SOURCE, TARGET = "a b c d g", "B C D E H"
REPEATED, BEFORE_LAST = "A F D A F", "A F D F E"
"""Translations in which a letter comes again."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [" ".join("abcdefgh"), " ".join("ABCDEFGH")] * 20
    tokenizer = Tokenizer.train(lines, 37)
    ids = [12, 13, 14, 15, 18, 5, 6, 7, 8, 11]
    assert [*tokenizer.encode(SOURCE), *tokenizer.encode(TARGET)] == ids
    folder = tmp_path_factory.mktemp("planted") / "model"
    checkpoint.save(folder, planted_model().float(), tokenizer)
    translator = Translator.load(folder)
    assert translator.translate(SOURCE).text == TARGET
    lines = ["a b c d", "e f g h", "h g f e", "d c b a", "b d f h", "a c e g"]
    measured = measuring.measure_lines(translator, lines, costs=False, sources=False)
    measurement.store(folder, {result_file.FILE: result_file.to_bytes(measured)})
    return folder


@pytest.fixture
def open_(serve: Callable[..., AppTest], folder: Path) -> Callable[..., list[str]]:
    """Open a page at a head and return all that it says, in lines."""

    def open_page(page: str, head: Head, word: int, **url: str) -> list[str]:
        place = head_picker.link_parameters(*head)
        url = {"text": SOURCE, "word": str(word), **place} | url
        return lines_of(serve(page, checkpoint=folder, **url))

    return open_page


def lines_of(app: AppTest) -> list[str]:
    assert not app.exception
    elements = (*app.text, *app.markdown, *app.caption)
    lines = [line for element in elements for line in element.value.splitlines()]
    return [re.sub("[\\\\\u2068\u2069]", "", line) for line in lines]


SCORES = {
    BY_PLACE: ("the position of “d” meeting the position of “c”", 4, ""),
    BY_BIAS: ("the biases at “d” meeting the token “c”", 4, ""),
    BY_PLACE_AND_CONSTANT: ("the position of “d” meeting the position of “c”", 4, ""),
    BY_FEATURE: (
        "the position of “d” meeting what the encoder L1 feed-forward network wrote at “c”", 4, "",
    ),
    WRITES_BEFORE: ("the position of “D” meeting the position of “F”", 4, BEFORE_LAST),
    INDUCTION: ("the token “A” meeting what decoder L1 H1 wrote at “F”", 5, REPEATED),
    BY_QUERY: ("what decoder L1 H1 wrote at “D” meeting the token “F”", 4, BEFORE_LAST),
    ALIGNS: ("the position of “D” meeting the position of “d”", 4, ""),
}  # fmt: skip
"""By head: the cause that was planted, the row and the translation."""

AS_IT_IS = (BY_PLACE_AND_CONSTANT, BY_BIAS, INDUCTION, ALIGNS)
"""Heads whose score under one key is split; that of others by two keys."""


@pytest.mark.parametrize("head", SCORES, ids=str)
def test_why_here_names_what_was_planted_first(open_, head: Head) -> None:
    cause, row, edited = SCORES[head]
    url = {"edited": edited} if edited else {}
    parts = [line for line in open_("inside", head, row, **url) if "comes from" in line]
    assert parts[0].endswith(f"comes from {cause}.")
    # as it is, the score has what is equal under every key
    split = circuits.ONE_KEY if head in AS_IT_IS else circuits.TWO_KEYS
    lines = open_("inside", head, row, score=split, **url)
    first = next(line for line in lines if "comes from" in line)
    assert (cause in first) == (head != BY_PLACE_AND_CONSTANT)


@pytest.mark.parametrize(
    ("head", "split"),
    [*zip(EMPTY, (circuits.ABOVE_MEAN, circuits.TWO_KEYS, circuits.ONE_KEY), strict=True)],
    ids=str,
)
def test_of_a_head_of_zeros_nothing_is_claimed(open_, head: Head, split: str) -> None:
    lines = open_("inside", head, 3, score=split)
    assert not [line for line in lines if "comes from" in line or "nan" in line.split()]
    assert not [line for line in lines if "it raises" in line or "Copying score of" in line]
    assert [line for line in lines if "nothing to split" in line]
    assert [line for line in lines if "writes nothing" in line]


def test_what_is_raised_is_above_0_and_what_is_lowered_below(
    serve: Callable[..., AppTest], folder: Path
) -> None:
    """The one letter that a head writes is all that it raises; other letters stay as they are."""
    url = {"text": SOURCE, "word": "2", "key": "2", **head_picker.link_parameters(*TRANSLATES)}
    app = serve("inside", checkpoint=folder, **url)
    table = app.table[0].value
    (line,) = [line for line in lines_of(app) if line.startswith("At “b”, it writes")]
    assert "it writes C (+" in line
    assert table["raises"][0] == "C"
    translator = Translator.load(folder)
    trace = translator.trace(SOURCE)
    logits = written_logits(translator.model, trace, TRANSLATES, 1, [1])[0]
    for name, by, sign in (("raises", "up by", 1), ("lowers", "down by", -1)):
        shown = [float(number) for number in table[by] if number]
        assert shown == pytest.approx(np.sort(sign * logits)[::-1][: len(shown)], abs=0.006)
        assert min(shown) > 0
        assert len([piece for piece in table[name] if piece]) == len(shown)


def test_the_finding_on_a_score_names_the_place(folder: Path) -> None:
    translator = Translator.load(folder)
    finding = passes.split_score(translator, translator.trace(SOURCE))
    assert finding is not None
    assert named_head(*ALIGNS) in finding.text
    assert finding.text.endswith("is from its position.")


def edges_of(translator: Translator, target: str, step: int, other: str) -> PatchedEdges:
    trace = translator.trace(SOURCE, target=target)
    (piece,) = translator.target_tokenizer.encode(other)
    return patch_strongest(Circuit(translator.model, trace, step, piece))


@pytest.mark.parametrize(
    ("target", "step", "reader", "input_"),
    [(BEFORE_LAST, 3, BY_QUERY, "query"), (REPEATED, 4, INDUCTION, "key")],
)
def test_the_strongest_edge_is_the_one_that_was_planted(
    open_, folder: Path, target: str, step: int, reader: Head, input_: str
) -> None:
    url = {"roles_view": "Why this word", "written": str(step + 1), "other": "G"}
    lines = open_("roles", reader, 1, edited=target, **url)
    (line,) = [line for line in lines if "The strongest: " in line]
    assert f"decoder L1 H1 through the {input_} of {named_head(*reader)}, " in line
    patched = edges_of(Translator.load(folder), target, step, "G")
    assert f"{patched.lost[0]:.2f} nats for “F”, not “G”" in line
    assert patched.lost[0] > 1


@pytest.mark.slow
def test_pairs_and_dictionary_name_the_head_that_translates(
    serve: Callable[..., AppTest], folder: Path
) -> None:
    app = serve("corpus", checkpoint=folder, text=SOURCE, corpus_view="Pairs", pairs="your pairs")
    content = "".join(
        f"{a} c d\t{b} c d\t{first}\t{second}\n"
        for (a, b), (first, second) in zip(pairwise("abcdefg"), pairwise("BCDEFGH"), strict=True)
    )
    app.file_uploader(key=pairs.FILE).set_value(("letters.tsv", content.encode(), "")).run()
    (line,) = [line for line in lines_of(press(app, pairs.JOB)) if "lose the most with" in line]
    assert f"lose the most with {named_head(*TRANSLATES)}: " in line
    app = serve("corpus", checkpoint=folder, text=SOURCE, corpus_view="Dictionary")
    lines = lines_of(press(app, dictionary.JOB))
    (line,) = [line for line in lines if "writes a translation first" in line]
    assert f"{named_head(*TRANSLATES)} writes a translation first" in line
    assert line.startswith("For 100\u00a0%")


@pytest.mark.slow
def test_of_pairs_and_dictionaries_of_zeros_no_head_is_named(
    serve: Callable[..., AppTest], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = Translator.load(folder)
    words = [MinimalPair(("a", "b"), ("B", "C")), MinimalPair(("b", "c"), ("C", "D"))]
    sites = all_sites(translator.model.config)
    nothing = np.zeros((2, len(sites)))
    measured = MeasuredPairs(tuple(words), PatchedPairs(sites, nothing, nothing, nothing[:, 0]), ())
    monkeypatch.setattr(jobs, "get_or_offer", lambda *_, **__: measured)
    lines = lines_of(serve("corpus", checkpoint=folder, text=SOURCE, corpus_view="Pairs"))
    assert [line for line in lines if "No single patched head changes them by 0.01" in line]
    assert not [line for line in lines if "the most" in line]
    lines_measured = result_file.from_bytes((folder / result_file.FILE).read_bytes(), translator)
    read = measure_dictionaries(translator, lines_measured)
    read = replace(read, hits=np.zeros_like(read.hits), chance=0 * read.chance, p=0 * read.p + 1)
    monkeypatch.setattr(jobs, "get_or_offer", lambda *_, **__: read)
    lines = lines_of(serve("corpus", checkpoint=folder, text=SOURCE, corpus_view="Dictionary"))
    (line,) = [line for line in lines if "translation first" in line]
    assert line.startswith("No head")


@pytest.mark.parametrize("seed", range(3))
def test_of_random_weights_no_score_is_worth_seeing(bundled: Translator, seed: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(bundled.model.config).eval()
    trace = bundled.trace("The dog bites the man.")
    sides = [*trace.source_pieces], [*trace.target_pieces]
    trace = AttentionTrace.from_fields(capture(model, trace.source, trace.target, *sides))
    assert trace.cross.max() > 1.5 * trace.cross.min()  # rows that are not even
    finders = (passes.scaled_score, passes.split_score, passes.written_word)
    untrained: Any = SimpleNamespace(model=model)
    assert [find(untrained, trace) for find in finders] == [None] * 3
