"""A MarianMT folder in our model is that folder, by plain NumPy in the layout of Marian."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.checkpoints.marian import marian_folder, plain_marian
from transformer import KINDS, CheckpointError, Translator
from transformer.analysis.logits import logit_lens
from transformer.checkpoints import marian
from transformer.checkpoints.marian.tokenizer import MarianTokenizer
from transformer.config import BOS, EOS

CASES: dict[str, dict[str, Any]] = {
    "shared, swish": {"codes": marian_folder.CODES},
    "separate, relu": {"separate": True, "activation": "relu", "d_model": 24, "h": 3, "layers": 3},
    "pickled, gelu": {"pickled": True, "activation": "gelu", "positions": "formula"},
    "deeper decoder, unscaled, tables of their own": {
        "layers": 1, "h": 4, "decoder": (3, 2, 40), "tied": False, "scaled": False,
    },
    "separate, pickled, a projection of its own, rows without a name": {
        "separate": True, "pickled": True, "tied": False, "spare_rows": 3,
    },
}  # fmt: skip


class Case:
    """A folder as the package reads it, and as plain code does."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plain = folder, plain_marian.PlainMarian(folder)
        self.translator = Translator.load(folder)
        self.model = self.translator.model
        self.source, self.target = (
            np.array([tokenizer.vocabulary.numbers.get(t, -1) for t in tokenizer.vocabulary.texts])
            for tokenizer in (self.translator.tokenizer, self.translator.target_tokenizer)
            if isinstance(tokenizer, MarianTokenizer)
        )
        """Marian's number of each of our ids; -1 for `<s>`."""

    def ids(self, text: str) -> list[int]:
        return [*self.translator.tokenizer.encode(text), EOS]


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("marian")
    return Case(marian_folder.write(folder, **CASES[request.param]))


def pairs(x: np.ndarray) -> np.ndarray:
    """Half by half to sine beside cosine, one column at a time."""
    half = x.shape[1] // 2
    return np.stack([x[:, i // 2 + half * (i % 2)] for i in range(2 * half)], 1)


@pytest.mark.parametrize("number", range(2))
def test_states_weights_and_logits_are_marian_s(case: Case, number: int) -> None:
    ids = case.ids(marian_folder.SOURCE[number])
    written = torch.randint(4, case.model.config.vocab_size, (6,)).tolist()
    expected = case.plain.run(case.source[ids].tolist(), case.target[written].tolist())
    source, target = torch.tensor([ids]), torch.tensor([[BOS, *written]])
    with torch.inference_mode():
        logits, cache = case.model.run_with_cache(source, target)
        memory = case.model.encode(source)[0]
    np.testing.assert_allclose(memory.numpy(), pairs(case.plain.memory), atol=1e-5)
    for id_, marians in enumerate(case.target):
        if id_ != BOS:
            np.testing.assert_allclose(
                logits[0][:, id_].numpy(), expected[:, marians], atol=2e-5, rtol=1e-5
            )
    assert (logits[0].softmax(-1)[:, BOS] == 0).all()
    for kind, name in zip(
        KINDS, ("encoder.layers.{}.self", "decoder.layers.{}.self", "decoder.layers.{}.cross"),
        strict=True,
    ):  # fmt: skip
        for layer, pattern in enumerate(case.plain.patterns[kind]):
            ours = cache[f"{name.format(layer)}_attention.hook_pattern"][0].numpy()
            np.testing.assert_allclose(ours, pattern, atol=1e-5)


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("start", ["<s>", "<pad>"])
def test_a_bos_of_marian_s_own_is_ours_where_its_decoder_begins_with_it(start, separate, tmp_path):
    case = Case(marian_folder.write(tmp_path, start=start, separate=separate))
    source, is_ours = case.ids(marian_folder.SOURCE[0]), start == "<s>"
    written = torch.randint(4, case.model.config.vocab_size, (6,)).tolist()
    expected = case.plain.run(case.source[source].tolist(), case.target[written].tolist())
    with torch.inference_mode():
        logits = case.model(torch.tensor([source]), torch.tensor([[BOS, *written]]))[0].numpy()
    own = [id_ for id_ in range(len(case.target)) if id_ != BOS or is_ours]
    assert sorted(case.target[own]) == list(range(expected.shape[1]))  # each piece once
    np.testing.assert_allclose(logits[:, own], expected[:, case.target[own]], atol=2e-5, rtol=1e-5)
    assert is_ours or (logits[:, BOS] < -1e8).all()


@pytest.mark.parametrize("number", range(2))
def test_greedy_search_writes_what_plain_code_writes(case: Case, number: int) -> None:
    text = marian_folder.SOURCE[number]
    best = case.translator.translate(text, beam_size=1, max_length=12).best
    expected = case.plain.greedy(case.source[case.ids(text)].tolist(), 12)
    assert case.target[list(best.hypothesis.tokens)].tolist() == expected


def test_scores_and_traces_are_of_the_target_s_own_pieces(case: Case) -> None:
    source, given = marian_folder.SOURCE[0], marian_folder.TARGET[0]
    scored = case.translator.score(source, given)
    written = [piece.id for piece in scored.pieces]
    cut = marian_folder.spm_of(marian_folder.TARGET).EncodeAsPieces(given)
    assert [piece.text for piece in scored.pieces] == [*cut, "</s>"]
    marians = case.target[written].tolist()
    logits = case.plain.run(case.source[case.ids(source)].tolist(), marians[:-1])
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    np.testing.assert_allclose(
        scored.log_probs, log_p[range(len(marians)), marians], atol=1e-4, rtol=1e-5
    )
    in_pieces = case.translator.score(source, cut)
    assert in_pieces.translation.text == given
    assert in_pieces.log_probs == pytest.approx(scored.log_probs[:-1], abs=1e-5)
    trace = case.translator.trace(source, target=given)
    np.testing.assert_allclose(trace.log_probs, scored.log_probs, atol=1e-5)
    assert trace.target == given
    np.testing.assert_allclose(trace.cross, np.stack(case.plain.patterns["cross"]), atol=1e-5)


def test_what_is_steered_is_steered_in_the_target_s_pieces(case: Case) -> None:
    source = marian_folder.SOURCE[1]
    steered = case.translator.translate(source, prefix="Mon frère", max_length=9, beam_size=2)
    assert steered.text.startswith("Mon frère")
    cut = marian_folder.spm_of(marian_folder.TARGET).EncodeAsPieces("Mon frère")
    again = case.translator.translate(source, prefix=cut, max_length=9, beam_size=2)
    assert again.text.startswith("Mon frère")
    assert [piece.text for piece in again.best.pieces][: len(cut)] == cut
    (word, *_) = case.translator.translate(source, max_length=9, beam_size=2).best.words
    other = case.translator.translate(source, forbidden=[word.text], max_length=9, beam_size=2)
    assert word.text not in [entry.text for entry in other.best.words]


def test_a_folder_has_one_checksum_that_changes_with_each_file(tmp_path: Path) -> None:
    folder = marian_folder.write(tmp_path / "one")
    same = marian.load(marian_folder.write(tmp_path / "two"))
    assert marian.load(folder).checksum == same.checksum
    other = marian.load(marian_folder.write(tmp_path / "three", seed=1))
    assert other.checksum != same.checksum
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "dropout": 0.2}))
    assert marian.load(folder).checksum != same.checksum


def test_a_loaded_model_does_not_depend_on_its_file(tmp_path: Path) -> None:
    """Nothing of it is a view of the mapped file, which somebody may replace."""
    model = marian.load(marian_folder.write(tmp_path, separate=True)).model
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    weights = tmp_path / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(weights.stat().st_size // 4)
        file.write(b"\xff" * (weights.stat().st_size * 3 // 4))
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name]), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_positions_are_the_formula_s_as_they_are_stored(dtype: torch.dtype, tmp_path: Path) -> None:
    folder = marian_folder.write(tmp_path / "formula", positions="formula", dtype=dtype)
    config = marian.load(folder).model.config
    assert (config.positions, config.activation) == ("sinusoidal", "swish")
    assert (config.attention_bias, config.output_bias) == (True, True)
    other = marian_folder.write(tmp_path / "learned", positions="learned", dtype=dtype)
    with pytest.raises(CheckpointError, match="are not the formula's positions"):
        marian.load(other)


def test_the_logit_lens_names_pieces_of_the_target(case: Case) -> None:
    trace = case.translator.trace(marian_folder.SOURCE[0], target=marian_folder.TARGET[0])
    source = case.source[case.ids(marian_folder.SOURCE[0])].tolist()
    written = case.target[[piece.id for piece in trace.target_pieces]].tolist()
    logits = case.plain.run(source, written[:-1])
    logits[:, [1, case.plain.config["pad_token_id"]]] = -np.inf
    numbers = case.target.tolist()
    ids = [numbers.index(number) for number in logits.argmax(-1)]
    expected = [piece.text for piece in case.translator.target_tokenizer.pieces_of(ids)]
    predictions = logit_lens.layer_predictions(case.translator, trace, k=1).pieces[-1]
    assert [step[0] for step in predictions] == expected
