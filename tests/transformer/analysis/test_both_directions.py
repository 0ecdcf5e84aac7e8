"""Links of two models, one for each direction, are combined as Koehn et al. (2003) combine them."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from transformer import CheckpointError, InputError, Translator
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures, read_alignment
from transformer.analysis.both_directions import (
    FILE,
    RULES,
    BothSettings,
    BothShares,
    align_both,
    combine,
    combined_links,
    read_both,
)

SOURCE, TARGET = "The old cat sleeps under the table.", "Unter dem Tisch schläft die Katze."
EACH = AlignmentSettings(1, None, "writes", "weights", "each")
BOTH = BothSettings(EACH, replace(EACH, head=2), "grow-diag", GoldFigures("a set", 50, 17.5))


# by hand


def test_grow_diag_is_the_loop_of_the_paper() -> None:
    draw = np.random.default_rng(5)
    for _ in range(300):
        forward, reverse = ({*map(tuple, draw.integers(0, 6, (12, 2)).tolist())} for _ in "fr")
        assert combined_links(forward, reverse, "grow-diag") == _loop(forward, reverse, 6)
        assert combined_links(forward, reverse, "intersection") == forward & reverse
        assert combined_links(forward, reverse, "union") == forward | reverse


def _loop(forward, reverse, size):
    """Grow as the pseudocode of Koehn et al. does: over the grid until nothing is added."""
    links, before = forward & reverse, None
    steps = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    while before != links:
        before = set(links)
        for source in range(size):
            for target in range(size):
                for down, right in steps if (source, target) in links else ():
                    new = source + down, target + right
                    taken = any(new[0] == s for s, _ in links) and any(
                        new[1] == t for _, t in links
                    )
                    if not taken and new in forward | reverse:
                        links = {*links, new}
    return links


def test_rules_and_strengths_by_hand() -> None:
    shares = BothShares(  # [target word, source word]
        np.array([[0.6, 0.4, 0.0], [0.5, 0.35, 0.15]], dtype=np.float32),
        np.array([[0.5, 0.3, 0.0], [0.1, 0.7, 1.0]], dtype=np.float32),
    )
    pairs = {rule: combine(shares, BOTH, rule) for rule in RULES}
    # forward links source word 0 with both; the other model 0 with 0, and 1 and 2 with 1
    links = {rule: [pair[:2] for pair in combined] for rule, combined in pairs.items()}
    assert links == {
        "intersection": [(0, 0)],
        "union": [(0, 0), (0, 1), (1, 1), (2, 1)],
        "grow-diag": [(0, 0), (0, 1), (1, 1), (2, 1)],
        "product": [(0, 0), (1, 1)],  # 0.3 and 0.245 are the largest of their rows and columns
    }
    strengths = [pair.strength for pair in pairs["union"]]
    assert strengths == pytest.approx([0.55, 0.3, 0.525, 0.575])


# of models


@pytest.mark.parametrize("words", ["pieces", "typed"])
def test_both_models_link_as_each_does_alone(translator, reverse, words):
    trace = translator.trace(SOURCE, target=TARGET)
    back = reverse.trace(TARGET, target=SOURCE)
    forward = {p[:2]: p.strength for p in align(translator, trace, BOTH.forward, words=words)}
    turned = {
        (p.target, p.source): p.strength for p in align(reverse, back, BOTH.reverse, words=words)
    }
    assert forward.keys() - turned.keys()
    assert turned.keys() - forward.keys()
    for rule in ("intersection", "union", "grow-diag"):
        pairs = align_both(translator, reverse, trace, replace(BOTH, rule=rule), words=words)
        assert {pair[:2] for pair in pairs} == combined_links(forward, turned, rule)
        for pair in pairs:
            if pair[:2] in forward.keys() & turned.keys():
                mean = (forward[pair[:2]] + turned[pair[:2]]) / 2
                assert pair.strength == pytest.approx(mean)
    assert pairs


def test_what_cannot_be_combined_is_one_sentence(translator, reverse):
    trace = translator.trace(SOURCE, target=TARGET)
    with pytest.raises(InputError, match=r"translates English to German: choose one that .*\.$"):
        align_both(translator, translator, trace)
    other = replace(trace, target="Die Katze")
    with pytest.raises(InputError, match=r"different words, 8 and 8 in .*, 7 and 2 in .*\.$"):
        align_both(translator, reverse, other)
    end = slice(-1, None)
    rows = trace.cross[:, :, end]
    nothing = replace(trace, target="", target_pieces=trace.target_pieces[end], cross=rows)
    assert align_both(translator, reverse, nothing) == ()


# the file


@pytest.fixture
def folder(tmp_path: Path, checkpoint_folder: Path) -> Path:
    return Path(shutil.copytree(checkpoint_folder, tmp_path / "model"))


def test_what_is_written_is_read_for_the_model_that_it_was_measured_with(folder, reverse):
    loaded = Translator.load(folder)
    unmeasured = BothSettings(read_alignment(loaded), read_alignment(reverse), "intersection")
    assert read_both(loaded, reverse) == unmeasured
    text = BOTH.to_json(reverse)
    (folder / FILE).write_text(text)
    assert read_both(loaded, reverse) == BOTH
    (folder / FILE).write_text(json.dumps(json.loads(text) | {"weights": "0" * 64}))
    assert read_both(loaded, reverse) == unmeasured
    # the longest name that a gold set may have does not make the file too long
    gold = GoldFigures("\N{GRINNING FACE}" * 200, 50, 17.5)
    longest = replace(BOTH, gold=gold)
    (folder / FILE).write_text(longest.to_json(reverse))
    assert read_both(loaded, reverse) == longest


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"reverse": asdict(replace(EACH, layer=2))}, "layer = 2, but this model has layers 0 to"),
        ({"rule": "sum"}, "rule = 'sum', which must be one of intersection"),
    ],
)
def test_a_damaged_file_is_one_sentence(folder, reverse, content, sentence):
    (folder / FILE).write_text(json.dumps(json.loads(BOTH.to_json(reverse)) | content))
    with pytest.raises(CheckpointError, match=rf"both_directions\.json .*{sentence}.*\.$"):
        read_both(Translator.load(folder), reverse)
