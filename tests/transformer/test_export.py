"""The export to MarianMT's layout, read by plain NumPy and by our own reader of such folders."""

import json
import math
from pathlib import Path

import pytest
import safetensors
import torch

from tests.transformer.checkpoints.marian import marian_folder
from transformer import CheckpointError, Tokenizer, Transformer, Translator
from transformer.checkpoints import checkpoint
from transformer.config import BOS, EOS, PAD, UNK
from transformer.export import EXPORT, main, write

FILES = {
    "config.json", "generation_config.json", "model.safetensors", "source.spm", "target.spm",
    "tokenizer_config.json", "vocab.json", EXPORT,
}  # fmt: skip
CHANGES = {
    "as in the paper": {},
    "gelu, biases, three heads": {
        "activation": "gelu", "attention_bias": True, "output_bias": True,
        "d_model": 24, "d_ff": 40, "h": 3, "N": 3,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=CHANGES)
def given(request, tmp_path_factory, model: Transformer, tokenizer: Tokenizer) -> Path:
    """A checkpoint; one whose biases and norms are not as they begin."""
    changes = CHANGES[request.param]
    chosen = model
    if changes:
        values = model.config.to_dict() | {"d_k": None, "d_v": None} | changes
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(3)
            chosen = Transformer(type(model.config)(**values))
            for parameter in chosen.parameters():
                if parameter.dim() == 1:
                    parameter.add_(torch.randn_like(parameter), alpha=0.3)
            # as in every trained model: pieces that no text has are next to never probable
            chosen.get_parameter("output_bias")[[PAD, UNK, BOS]] = -20
    folder = tmp_path_factory.mktemp("given") / "model"
    checkpoint.save(folder, chosen, tokenizer)
    return folder


@pytest.fixture(scope="module")
def exported(given: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("exported") / "deep" / "model"
    assert main(["marian", "--checkpoint", str(given), "--out", str(out)]) == 0
    return out


def test_the_folder_has_the_layout_and_says_what_it_was_made_from(exported, given):
    assert {path.name for path in exported.iterdir()} == FILES
    assert [path.name for path in exported.parent.iterdir()] == ["model"]  # nothing is left over
    manifest = json.loads((exported / EXPORT).read_text())
    assert (manifest["engine"], manifest["checkpoint"]) == (
        "marian",
        checkpoint.load(given).checksum,
    )
    assert set(manifest["sha256"]) == FILES - {EXPORT}
    with safetensors.safe_open(exported / "model.safetensors", "pt") as stored:
        assert stored.metadata() == {"format": "pt"}
        assert {stored.get_tensor(name).dtype for name in stored.keys()} == {torch.float32}  # noqa: SIM118


def test_special_pieces_keep_our_ids_and_the_start_is_ours(exported, tokenizer):
    vocabulary = json.loads((exported / "vocab.json").read_text("utf-8"))
    every = tokenizer.pieces_of(range(tokenizer.vocab_size))
    assert vocabulary == {piece.text: id_ for id_, piece in enumerate(every)}
    for name in ("config.json", "generation_config.json"):
        values = json.loads((exported / name).read_text())
        assert values["pad_token_id"] == vocabulary["<pad>"] == PAD
        assert values["eos_token_id"] == vocabulary["</s>"] == EOS
        assert values["decoder_start_token_id"] == vocabulary["<s>"] == BOS
        assert values["forced_eos_token_id"] is None
    assert values["bad_words_ids"] == [[PAD], [UNK], [BOS]]
    for name in ("source.spm", "target.spm"):
        assert (exported / name).read_bytes() == tokenizer.model


@pytest.mark.slow
def test_our_reader_gives_the_same_translations_and_log_probabilities(exported, given, pairs):
    ours, read = Translator.load(given), Translator.load(exported)
    assert read.model.config.vocab_size == ours.model.config.vocab_size
    for english, german in pairs[::90]:
        best, again = (
            translator.translate(english, beam_size=4, max_length=12).best
            for translator in (ours, read)
        )
        assert again.text == best.text
        assert again.hypothesis.log_probs == pytest.approx(best.hypothesis.log_probs, abs=1e-5)
        own, others = ours.score(english, german), read.score(english, german)
        assert [piece.text for piece in others.pieces] == [piece.text for piece in own.pieces]
        assert others.log_probs == pytest.approx(own.log_probs, abs=1e-5)
    languages = read.languages
    assert (languages.source, languages.target) == ("English", "German")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"positions": "learned"}, "a model with learned positions, but a MarianMT model computes"),
        ({"d_k": 4}, "d_k = 4 and d_v = 8, but in a MarianMT model both are d_model / h = 8"),
        ({"h": 3, "d_k": 10, "d_v": 10}, "d_model / h = 10.6667"),
    ],
)
def test_what_marian_has_not_is_refused(tmp_path, model, tokenizer, capsys, changes, words):
    config = type(model.config)(**model.config.to_dict() | changes)
    checkpoint.save(tmp_path / "given", Transformer(config), tokenizer)
    out = tmp_path / "out"
    assert main(["marian", "--checkpoint", str(tmp_path / "given"), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert not out.exists()
    with pytest.raises(CheckpointError):
        write(checkpoint.load(tmp_path / "given"), out)


def test_a_marian_folder_is_exported_no_second_time(tmp_path, exported, capsys):
    hub = marian_folder.write(tmp_path / "hub")
    for given in (hub, exported):
        assert main(["marian", "--checkpoint", str(given), "--out", str(tmp_path / "out")]) == 2
        assert "is a MarianMT folder already" in capsys.readouterr().err


def test_the_search_of_generate_has_our_beam_and_nearly_our_penalty(exported):
    values = json.loads((exported / "generation_config.json").read_text())
    assert values["num_beams"] == 4
    assert values["early_stopping"] is True
    # the penalty of a piece more, at 15 pieces, in both formulas
    ours = [((5 + length) / 6) ** 0.6 for length in (15, 16)]
    theirs = [length ** values["length_penalty"] for length in (15, 16)]
    assert math.log(theirs[1] / theirs[0]) == pytest.approx(math.log(ours[1] / ours[0]), rel=0.02)
