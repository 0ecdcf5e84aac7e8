"""The command `evaluate aer`: its figures are those of plain loops over the weights."""

import contextlib
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.data.corpus import CorpusError, ParallelText
from training.evaluate import main
from training.evaluation.gold_alignment import read_gold
from transformer import Translator
from transformer.analysis import alignment, lenses
from transformer.analysis.alignment_settings import FILE, read_alignment
from transformer.analysis.gold_links import GoldLinks, Notation

ENGLISH = ["The dog waits .", "Her horse eats", "The old cat sleeps under the table ."]
GERMAN = ["Der Hund wartet .", "Ihr Pferd frisst", "Die alte Katze schläft unter dem Tisch ."]
GOLD = ["0-0 1-1 2-2 3p3", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3 4-4 5-5 6-6 0p1 4p5"]
FROM_ZERO = Notation()
TEXT = ParallelText(["a b c", "d e"], ["x y", "z, w v"])


def _write(folder: Path, checkpoint: Path) -> Path:
    for name, lines in (("src", ENGLISH), ("tgt", GERMAN), ("gold", GOLD)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    shutil.copytree(checkpoint, folder / "model")
    return folder


@pytest.fixture
def files(tmp_path: Path, checkpoint_folder: Path) -> Path:
    """`src`, `tgt`, `gold` and a copy of a checkpoint in `model`."""
    return _write(tmp_path, checkpoint_folder)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, checkpoint_folder: Path) -> dict[str, Any]:
    """Output of the command for those files, as JSON."""
    printed, folder = io.StringIO(), tmp_path_factory.mktemp("aer")
    with contextlib.redirect_stdout(printed):
        assert main(_command(_write(folder, checkpoint_folder), "--json")) == 0
    return json.loads(printed.getvalue())


def _command(files: Path, *more: str) -> list[str]:
    paths = {"--checkpoint": "model", "--src": "src", "--tgt": "tgt", "--gold": "gold"}
    return ["aer", *(word for o, name in paths.items() for word in (o, str(files / name))), *more]


def _figures(alignments: list[set[tuple[int, int]]]) -> dict[str, float]:
    sure = [{tuple(map(int, x.split("-"))) for x in g.split() if "-" in x} for g in GOLD]
    possible = [{tuple(map(int, x.replace("p", "-").split("-"))) for x in g.split()} for g in GOLD]
    a, s = sum(map(len, alignments)), sum(map(len, sure))
    a_s = sum(len(x & y) for x, y in zip(alignments, sure, strict=True))
    a_p = sum(len(x & y) for x, y in zip(alignments, possible, strict=True))
    aer = 100 * (1 - (a_s + a_p) / (a + s))
    return {"aer": aer, "precision": 100 * a_p / a, "recall": 100 * a_s / s}


def _by_loops(translator: Translator, layer: int, head: int | None, row: str) -> dict[str, float]:
    """AER of the raw weights, each target word with its strongest source word."""
    alignments = []
    for english, german in zip(ENGLISH, GERMAN, strict=True):
        trace = translator.trace(english, target=german)
        weights = trace.cross[layer].mean(0) if head is None else trace.cross[layer, head]
        counts = [
            [len(translator.tokenizer.pieces(word)) for word in text.split()]
            for text in (english, german)
        ]
        results, start = set(), 0 if row == "writes" else 1
        for target, height in enumerate(counts[1]):
            totals, left = [], 0
            for width in counts[0]:
                totals.append(weights[start : start + height, left : left + width].sum())
                left += width
            results.add((int(np.argmax(totals)), target))
            start += height
        alignments.append(results)
    return _figures(alignments)


def test_rows_of_weights_are_those_of_plain_loops(measured, translator):
    compared = 0
    for results in measured["rows"]:
        if results["lens"] == "weights":
            expected = _by_loops(translator, results["layer"], results["head"], results["row"])
            assert {name: results[name] for name in expected} == pytest.approx(expected)
            compared += 1
    assert compared == 2 * 2 * (4 + 1)
    assert len({json.dumps(expected) for expected in measured["rows"]}) > 20


def test_there_is_a_row_for_every_map_and_one_is_the_default(measured, translator):
    maps = {(r["layer"], r["head"], r["row"], r["lens"]) for r in measured["rows"]}
    head_lenses = lenses.HAS_HEADS & set(lenses.NAMES)
    assert len(maps) == len(measured["rows"]) == 2 * 2 * (4 * len(head_lenses) + 6)
    assert {lens for *_, lens in maps} == set(lenses.NAMES)
    default = measured["default"]
    alignments = []
    for english, german in zip(ENGLISH, GERMAN, strict=True):
        pairs = alignment.align(translator, translator.trace(english, target=german), words="typed")
        alignments.append({pair[:2] for pair in pairs})
    assert default == pytest.approx(
        {"layer": 1, "head": None, "row": "writes", "lens": "norm", "links": "mutual"}
        | _figures(alignments)
    )
    (row,) = (
        r for r in measured["rows"]
        if (r["layer"], r["head"], r["row"], r["lens"]) == (1, None, "writes", "norm")
    )  # fmt: skip
    assert row["mutual"]["aer"] == default["aer"]
    assert (measured["sentences"], measured["dropped"]) == (3, 0)


def test_baselines_by_hand(measured: dict[str, Any]) -> None:
    results = measured["baselines"]
    # both sides have as many words: the diagonal is one-to-one
    words = sum(len(line.split()) for line in GERMAN)
    sure = sum(line.count("-") for line in GOLD)
    possible = sum(len(line.split()) for line in GOLD)
    matched = possible - 2  # all but 0p1 and 4p5
    for name in ("diagonal", "one_to_one"):
        assert results[name] == pytest.approx(
            {
                "aer": 100 * (1 - (sure + matched) / (words + sure)),
                "precision": 100 * matched / words,
                "recall": 100,
            }
        )
    # any of the I source words with probability 1/I
    a_s, a_p = 3 / 4 + 3 / 3 + 7 / 8, 4 / 4 + 3 / 3 + 9 / 8
    assert results["random"]["aer"] == pytest.approx(100 * (1 - (a_s + a_p) / (words + sure)))


def test_the_best_map_is_stored_and_then_the_default(files, capsys):
    assert main(_command(files, "--json", "--write", "three sentences")) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    least = min(min(r["aer"], r["mutual"]["aer"]) for r in result["rows"])
    stored = read_alignment(Translator.load(files / "model"))  # every checksum is verified
    assert stored.gold is not None
    assert (stored.gold.name, stored.gold.sentences) == ("three sentences", 3)
    assert stored.gold.aer == pytest.approx(least, abs=5e-5)
    assert f"{FILE} says: {stored.describe()}" in printed.err
    assert main(_command(files, "--json")) == 0
    default = json.loads(capsys.readouterr().out)["default"]
    assert default["aer"] == pytest.approx(least)
    assert (default["layer"], default["head"]) == (stored.layer, stored.head)


def test_links_outside_are_dropped_and_counted(files, capsys):
    (files / "gold").write_text("\n".join([GOLD[0] + " 9-0", *GOLD[1:]]) + "\n")
    assert main(_command(files, "--json", "--drop-outside")) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["dropped"] == 1
    assert "1 link names a word that is not there: dropped" in printed.err


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("gold", "0-0\n9-0\n0-0\n", "gold line 2: the link 9-0 names word 9 of the source"),
        ("model/alignment.json", "{}", "alignment.json does not say layer"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(
    files, capsys, name, content, sentence
):
    (files / name).write_text(content, "utf-8")
    before = {path.name: path.read_bytes() for path in (files / "model").iterdir()}
    assert main(_command(files, "--write", "x")) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("headlight evaluate: ")
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in (files / "model").iterdir()} == before


def _read(tmp_path: Path, content: str, notation: Notation = FROM_ZERO):
    path = tmp_path / "gold"
    path.write_text(content)
    return read_gold(path, TEXT, notation)


def test_sure_links_are_possible_too(tmp_path: Path) -> None:
    gold, dropped = _read(tmp_path, "0-0 2p1 1p1 1-1\n1p2\n")
    assert [(line.number, line.source, line.links) for line in gold] == [
        (1, "a b c", GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)}))),
        (2, "d e", GoldLinks(frozenset(), frozenset({(1, 2)}))),
    ]
    assert dropped == 0


def test_turned_and_counted_from_one(tmp_path: Path) -> None:
    gold, _ = _read(tmp_path, "2-3\n3p1\n", Notation(turned=True, first=1))
    assert gold[0].links.sure == {(2, 1)}
    assert (gold[1].links.sure, gold[1].links.possible) == (frozenset(), {(0, 2)})


@pytest.mark.parametrize(
    ("content", "notation", "sentence"),
    [
        ("0-0\n0-0 1:1\n", FROM_ZERO, "line 2: “1:1” is not a link: write source-target"),
        ("3-0\n0-0\n", FROM_ZERO, "line 1: the link 3-0 names word 3 of the source, .* 0 to 2"),
        ("0-1\n1-1\n", Notation(first=1), "1: the link 0-1 names word 0 of the source, .* 1 to 3"),
        ("0-2\n0-2\n", Notation(turned=True), "line 2: the link 0-2 names word 2 of the source"),
    ],
)  # fmt: skip
def test_bad_gold_is_one_sentence_that_names_the_line(tmp_path, content, notation, sentence):
    with pytest.raises(CorpusError, match=sentence) as error:
        _read(tmp_path, content, notation)
    assert re.fullmatch(r"[^\n]+[^.\n]\.", str(error.value))
    assert ("--turned" in str(error.value)) == (" names word " in str(error.value))
