"""The command `evaluate aer --reverse`: one half of the lines chooses, the other reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.training.evaluation.test_aer import ENGLISH, GERMAN, _command, files
from training.evaluate import main
from training.evaluation.aer import MODELS
from training.evaluation.gold_alignment import Counts, GoldLine, best_map, measure
from transformer import Translator
from transformer.analysis import alignment, alignment_settings, both_directions
from transformer.analysis.alignment_settings import LINKS, AlignmentSettings
from transformer.analysis.both_directions import RULES, BothSettings, align_both, read_both
from transformer.analysis.gold_links import GoldLinks, Notation, read_links

__all__ = ["files"]  # a fixture: used by name

GOLD = ["0-1 1-2 2-0 3p3", "0-0 1-1 2-2", "0-2 1-0 2-5 6-1 4p5"]
"""Links that are others with their sides exchanged."""


@pytest.fixture(autouse=True)
def _own_gold(files: Path) -> None:
    (files / "gold").write_text("".join(f"{line}\n" for line in GOLD))


def _figures(links: list[set[tuple[int, int]]], lines: range) -> dict[str, float]:
    counts = Counts()
    for own, line in zip(links, lines, strict=True):
        counts.add(own, _gold(line))
    return counts.figures()


def _gold(line: int) -> GoldLinks:
    words = len(ENGLISH[line].split()), len(GERMAN[line].split())
    return read_links(GOLD[line], words, Notation())[0]


def _settings(values: dict[str, Any]) -> BothSettings:
    forward, reverse = (AlignmentSettings(**values[side]) for side in MODELS)
    return BothSettings(forward, reverse, values["rule"])


def test_the_odd_lines_choose_and_the_even_ones_report(files, translator, reverse, capsys):
    assert main(_command(files, "--json", "--reverse", str(reverse.folder))) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["odd"], result["even"]) == (2, 1)
    assert result["measured"].keys() == {*MODELS, *RULES}
    for name, measured in result["measured"].items():
        for half, lines in (("odd", range(0, 3, 2)), ("even", range(1, 3, 2))):
            links = []
            for line in lines:
                trace = translator.trace(ENGLISH[line], target=GERMAN[line])
                if name in MODELS:
                    model, source, target = translator, ENGLISH[line], GERMAN[line]
                    if name == "reverse":
                        model, source, target = reverse, target, source
                    map_ = AlignmentSettings(**measured["settings"][name])
                    trace = model.trace(source, target=target)
                    pairs = alignment.align(model, trace, map_, words="typed")
                else:
                    assert measured["settings"]["rule"] == name
                    settings = _settings(measured["settings"])
                    pairs = align_both(translator, reverse, trace, settings, words="typed")
                turned = name == "reverse"
                links.append({(p.target, p.source) if turned else p[:2] for p in pairs})
            assert measured[half] == pytest.approx(_figures(links, lines)), (name, half)
    measured = result["measured"]
    least = min(measured[rule]["odd"]["aer"] for rule in RULES)
    assert measured[result["best"]["rule"]]["odd"]["aer"] == least
    _assert_best_on_odd_lines(measured, translator, reverse)


def _assert_best_on_odd_lines(
    measured: dict[str, Any], translator: Translator, reverse: Translator
) -> None:
    """Compare the maps with the best ones of two of the three lines."""
    odd, turned = [], []
    for number in (0, 2):
        links = _gold(number)
        sides = (frozenset((b, a) for a, b in side) for side in (links.sure, links.possible))
        odd.append(GoldLine(number, ENGLISH[number], GERMAN[number], links))
        turned.append(GoldLine(number, GERMAN[number], ENGLISH[number], GoldLinks(*sides)))
    maps = measure(translator, odd), measure(reverse, turned)
    for name, figures in zip(MODELS, maps, strict=True):
        assert measured[name]["odd"]["aer"] == pytest.approx(best_map(figures)[1])
    for rule in RULES:
        rates = []
        for kind in LINKS:
            settings = BothSettings(
                best_map(maps[0], [kind])[0], best_map(maps[1], [kind])[0], rule
            )
            counts = Counts()
            for line in odd:
                trace = translator.trace(line.source, target=line.target)
                pairs = align_both(translator, reverse, trace, settings, words="typed")
                counts.add({pair[:2] for pair in pairs}, line.links)
            rates.append(counts.figures()["aer"])
        assert measured[rule]["odd"]["aer"] == pytest.approx(min(rates)), rule


def test_the_choice_is_stored_and_then_the_default(files, reverse, capsys):
    written = ["--write", "three sentences", "--reverse", str(reverse.folder)]
    assert main(_command(files, "--json", *written)) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    loaded = Translator.load(files / "model")  # every checksum is verified
    stored = read_both(loaded, reverse)
    assert stored.gold is not None
    assert (stored.gold.name, stored.gold.sentences) == ("three sentences", 1)
    even = result["measured"][stored.rule]["even"]["aer"]
    assert stored.gold.aer == pytest.approx(even, abs=5e-5)
    assert f"{both_directions.FILE} says: {stored.describe()}" in printed.err
    assert not (files / "model" / alignment_settings.FILE).exists()
    # a file that somebody else wrote stays
    (files / "model" / both_directions.FILE).write_text("mine")
    assert main(_command(files, *written)) == 2


def test_what_cannot_be_measured_is_one_sentence(files, reverse, capsys):
    assert main(_command(files, "--reverse", str(files / "model"))) == 2
    assert "translates English to German" in capsys.readouterr().err
    for name in ("src", "tgt", "gold"):
        first = (files / name).read_text("utf-8").splitlines()[0]
        (files / name).write_text(f"{first}\n", "utf-8")
    assert main(_command(files, "--reverse", str(reverse.folder))) == 2
    assert capsys.readouterr().err.endswith("give at least two sentence pairs.\n")
