"""Folders for CTranslate2: it computes on them what the checkpoint computes."""

import builtins
import importlib
import json

import numpy as np
import pytest
import torch

from transformer import Transformer, TransformerConfig, Translator, errors, export
from transformer.analysis import alignment
from transformer.analysis.alignment_settings import read_alignment
from transformer.checkpoints import checkpoint
from transformer.checkpoints.export import ctranslate2
from transformer.checkpoints.export.manifest import EXPORT
from transformer.files.installed import BUNDLED
from transformer.text import languages
from transformer.text.tokenizer import with_end

TEXT = "The dog waits beside the river."


@pytest.fixture(scope="module")
def exported(tmp_path_factory, checkpoint_folder):
    out = tmp_path_factory.mktemp("exported") / "deep" / "model"
    arguments = ["ctranslate2", "--checkpoint", str(checkpoint_folder), "--out", str(out)]
    assert export.main(arguments) == 0
    return out


def test_the_folder_is_complete_and_says_what_it_was_made_from(exported, checkpoint_folder):
    manifest, loaded = (
        json.loads((exported / EXPORT).read_text()),
        checkpoint.load(checkpoint_folder),
    )
    assert manifest["checkpoint"] == loaded.checksum
    assert manifest["model"] == loaded.model.config.to_dict()
    assert (exported / "tokenizer.model").read_bytes() == loaded.tokenizer.model
    names = {"model.bin", "config.json", "shared_vocabulary.json", "tokenizer.model", EXPORT}
    assert {path.name for path in exported.iterdir()} == names
    assert [path.name for path in exported.parent.iterdir()] == ["model"]  # nothing is left over


def test_the_languages_of_the_checkpoint_are_those_of_the_export(tmp_path, checkpoint_folder):
    given, french_dutch = checkpoint.load(checkpoint_folder), languages.Languages("French", "Dutch")
    checkpoint.save(tmp_path / "model", given.model, given.tokenizer, languages=french_dutch)
    ctranslate2.write(checkpoint.load(tmp_path / "model"), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / EXPORT).read_text())
    assert languages.Languages.from_record(manifest) == french_dutch


@pytest.mark.parametrize(
    "shape",
    [
        {"d_k": 4, "d_v": 8, "activation": "gelu", "attention_bias": True, "output_bias": True},
        {"positions": "learned", "activation": "swish", "h": 2, "d_k": 24, "d_v": 20},
    ],
    ids=["d_k < d_v, gelu, biases", "learned positions, swish, h d_k > d_model"],
)
def test_every_shape_of_ours_is_exact(shape, tokenizer, tmp_path, pairs):
    sizes = {"N": 2, "d_model": 32, "d_ff": 64, "h": 4, "max_length": 90} | shape
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = Transformer(TransformerConfig(vocab_size=160, **sizes)).eval()
        for name, parameter in model.named_parameters():
            if name.endswith(("W_Q.bias", "W_K.bias", "W_V.bias", "W_O.bias", "output_bias")):
                torch.nn.init.normal_(parameter)
    checkpoint.save(tmp_path / "model", model, tokenizer)
    ours = Translator.load(tmp_path / "model")
    ctranslate2.write(checkpoint.load(tmp_path / "model"), tmp_path / "out")
    theirs = ctranslate2.engine().Translator(str(tmp_path / "out"))
    for pair in pairs[::90]:
        source = [piece.text for piece in with_end(tokenizer.pieces(pair.english))]
        target = [piece.text for piece in tokenizer.pieces(pair.german)]
        (result,) = theirs.score_batch([source], [target], max_input_length=0)
        expected = ours.score(pair.english, pair.german).log_probs
        assert result.log_probs == pytest.approx(expected, abs=1e-4)


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    def no_ctranslate2(name, *arguments, **options):
        if name.startswith("ctranslate2"):
            raise ModuleNotFoundError(name)
        return builtins.__import__(name, *arguments, **options)

    monkeypatch.setattr(importlib, "import_module", no_ctranslate2)
    with pytest.raises(errors.ConfigError, match=r"run pip install 'ctranslate2>=4\.6,<5'\.$"):
        ctranslate2.engine()


def returned(folder, trace):
    """Return CTranslate2's attention of the same translation, `[target, source]`."""
    (result,) = (
        ctranslate2.engine()
        .Translator(str(folder))
        .translate_batch(
            [[piece.text for piece in trace.source_pieces]],
            beam_size=4,
            return_attention=True,
            return_end_token=True,
        )
    )
    assert result.hypotheses[0] == [piece.text for piece in trace.target_pieces]
    return np.array(result.attention[0])


def test_the_attention_that_it_returns_gives_the_links_of_the_page(tmp_path):
    assert export.main(["ctranslate2", "--out", str(tmp_path / "one")]) == 0
    every = ctranslate2.AligningHead(2, None)
    ctranslate2.write(checkpoint.load(BUNDLED), tmp_path / "mean", alignment=every)
    translator = Translator.load()
    settings = read_alignment(translator)
    assert settings.head not in (0, None)
    trace = translator.trace("Two black dogs run through the deep snow.")
    attention = returned(tmp_path / "one", trace)
    expected = trace.cross[settings.layer, settings.head]
    np.testing.assert_allclose(attention, expected, atol=1e-5)
    mean = returned(tmp_path / "mean", trace)
    np.testing.assert_allclose(mean, trace.cross[2].mean(0), atol=1e-5)
    words = alignment.word_numbers(translator, trace, "pieces")
    shares = alignment.word_shares(attention, *words, settings.row)
    links, ours = alignment.strongest(shares, settings.links), alignment.align(translator, trace)
    assert [link[:2] for link in links] == [link[:2] for link in ours]
    assert len(links) > 5


def test_fewer_bits_make_a_smaller_model_that_still_translates(
    tmp_path, checkpoint_folder, exported
):
    out = tmp_path / "small"
    command = ["ctranslate2", "--checkpoint", str(checkpoint_folder), "--out", str(out)]
    assert export.main([*command, "--quantization", "int8"]) == 0
    size, full = ((folder / "model.bin").stat().st_size for folder in (out, exported))
    assert size < 0.75 * full
    source = [
        piece.text for piece in with_end(checkpoint.load(checkpoint_folder).tokenizer.pieces(TEXT))
    ]
    (result,) = ctranslate2.engine().Translator(str(out)).translate_batch([source])
    assert result.hypotheses[0]
    assert export.main(command) == 0  # its own is replaced
    assert (out / "model.bin").stat().st_size == full
