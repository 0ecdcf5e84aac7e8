"""CTranslate2 beside the search of this project: the same text, line by line."""

import builtins
import importlib
import math

import numpy as np
import pytest
import torch

from transformer import InputError, Transformer, TransformerConfig, Translator, decoding, errors
from transformer.checkpoints import checkpoint
from transformer.config import BOS, EOS, PAD, UNK
from transformer.decoding.settings import SearchSettings
from transformer.engine import CTranslate2Translator, plain_search
from transformer.files.installed import ASSETS

pytestmark = pytest.mark.slow

UNSEEN = "A 😀 dog and 汉字 in the garden."


@pytest.fixture(scope="module")
def bundled():
    return Translator.load()


@pytest.fixture(scope="module")
def bundled_engine():
    return CTranslate2Translator.load(threads=2)


def rare(model, pieces=(PAD, UNK, BOS)):
    """Pieces that no text contains get next to no probability, as in every trained model."""
    with torch.no_grad():
        norm = model.decoder.layers[-1].feed_forward_norm.norm
        norm.bias.copy_(torch.randn(norm.bias.shape) * 0.5)
        direction = norm.bias / norm.bias.square().sum()
        model.shared_embedding[list(pieces)] = -40 * direction
    return model


@pytest.fixture(
    scope="module",
    params=[
        {"d_k": 4, "d_v": 8, "activation": "gelu", "attention_bias": True, "output_bias": True},
        {"positions": "learned", "activation": "swish", "h": 2, "d_k": 24, "d_v": 20},
    ],
    ids=["d_k < d_v, gelu, biases", "learned positions, swish, h d_k > d_model"],
)
def other_shape(request, tokenizer, tmp_path_factory):
    """A checkpoint of random weights that is not as CTranslate2's models are by themselves."""
    shape = {"N": 2, "d_model": 32, "d_ff": 64, "h": 4, "max_length": 90} | request.param
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = rare(Transformer(TransformerConfig(vocab_size=160, **shape)).eval())
        for name, parameter in model.named_parameters():
            if name.endswith(("W_Q.bias", "W_K.bias", "W_V.bias", "W_O.bias", "output_bias")):
                torch.nn.init.normal_(parameter)
    folder = tmp_path_factory.mktemp("shape") / "model"
    checkpoint.save(folder, model, tokenizer)
    return folder


def test_the_bundled_model_writes_the_same_text(bundled, bundled_engine):
    lines = (ASSETS / "examples.txt").read_text("utf-8").splitlines()
    texts = [*lines[:: len(lines) // 4], UNSEEN]
    expected = bundled.translate_lines(texts)
    assert bundled_engine.translate_lines(texts) == expected
    assert len(set(expected)) > 0.9 * len(texts)


def test_translate_gives_the_same_candidates_figures_and_notices(bundled, bundled_engine):
    texts = ("Two boys build a tower.", UNSEEN)
    compared = 0
    for text in texts:
        ours, theirs = bundled.translate(text), bundled_engine.translate(text)
        assert theirs.notices == ours.notices
        scores = np.array([candidate.hypothesis.score for candidate in ours.candidates])
        assert [candidate.hypothesis.score for candidate in theirs.candidates] == pytest.approx(
            scores, abs=1e-3
        )
        # candidates that are about as probable may change places as the engines round
        apart = np.abs(np.diff(scores, prepend=math.inf, append=-math.inf)) > 1e-3
        for place in np.flatnonzero(apart[:-1] & apart[1:]):
            own, other = ours.candidates[place], theirs.candidates[place]
            assert other.text == own.text
            assert other.hypothesis.log_probs == pytest.approx(own.hypothesis.log_probs, abs=1e-3)
            compared += 1
    assert compared > 2 * len(texts)  # of four each


@pytest.mark.parametrize(("alpha", "max_length"), [(0.6, 4), (3, None)])
def test_alpha_limit_and_n_best_are_ours(bundled, bundled_engine, alpha, max_length):
    settings = SearchSettings(alpha=alpha, max_length=max_length)
    rows = [
        [piece.id for piece in bundled.reader.text(text)]
        for text in ("Three sheep stand on a narrow road and do not move.", "A cat.", "Stop!")
    ]
    ours, theirs = (engine.search(rows, settings) for engine in (bundled, bundled_engine))
    assert [hypotheses[0].tokens for hypotheses in theirs] == [
        hypotheses[0].tokens for hypotheses in ours
    ]
    two = bundled_engine.search(rows, SearchSettings(alpha=alpha, max_length=max_length, n_best=2))
    assert two == [hypotheses[:2] for hypotheses in theirs]


def test_every_shape_of_ours_is_exact(other_shape, pairs):
    ours, theirs = Translator.load(other_shape), CTranslate2Translator.load(other_shape)
    texts = [pair.english for pair in pairs[::90]]
    translations = [theirs.translate(text) for text in texts]
    for text, translation in zip(texts, translations, strict=True):
        expected = ours.translate(text)
        assert translation.best.hypothesis.log_probs == pytest.approx(
            expected.best.hypothesis.log_probs, abs=1e-4
        )
        assert translation.text == expected.text
    assert len({translation.text for translation in translations}) > 2
    assert theirs.translate_lines(texts, beam_size=1) == ours.translate_lines(texts, beam_size=1)


def test_each_line_of_a_batch_ends_at_its_own_limit(tokenizer, tmp_path):
    """CTranslate2 has one limit for all: what wrote beyond its own is searched once more."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        config = TransformerConfig(vocab_size=160, N=2, d_model=32, d_ff=64, h=4, max_length=90)
        model = rare(Transformer(config).eval(), (PAD, UNK, BOS, EOS))  # no sentence ends
    checkpoint.save(tmp_path / "model", model, tokenizer)
    ours = Translator.load(tmp_path / "model")
    theirs = CTranslate2Translator.load(str(tmp_path / "model"))
    rows = [[*range(10, 10 + length), EOS] for length in (2, 25, 7, 39)]
    expected, actual = (
        engine.search(rows, SearchSettings(beam_size=3)) for engine in (ours, theirs)
    )
    lengths = [{len(hypothesis.tokens) for hypothesis in hypotheses} for hypotheses in actual]
    assert lengths == [{53}, {76}, {58}, {90}]  # 50 more than the source has, at most the model's
    assert [[h.tokens for h in hypotheses] for hypotheses in actual] == [
        [h.tokens for h in hypotheses] for hypotheses in expected
    ]


def test_the_plain_search_is_the_search_of_decoding(model, tokenizer, pairs):
    K, alpha = 3, 0.6
    row = [*tokenizer.encode(pairs[3].english), EOS]

    @torch.inference_mode()
    def log_p_after(prefixes):
        source = torch.tensor([row] * len(prefixes))
        target = torch.tensor([[BOS, *prefix] for prefix in prefixes])
        return model(source, target)[:, -1].log_softmax(-1)

    expected = decoding.beam_search(model, torch.tensor([row]), beam_size=K, alpha=alpha)[0]
    hypotheses = plain_search(log_p_after, len(row) + 50, K, alpha)
    assert [hypothesis.tokens for hypothesis in hypotheses] == [
        hypothesis.tokens for hypothesis in expected
    ]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx(
        [hypothesis.score for hypothesis in expected], abs=1e-4
    )


def test_the_plain_search_stops_at_its_limit():
    never_ends = torch.full((1, 8), -2.0)
    never_ends[0, EOS] = -math.inf
    hypotheses = plain_search(lambda prefixes: never_ends.repeat(len(prefixes), 1), 5, 2, 0.6)
    assert [len(hypothesis.tokens) for hypothesis in hypotheses] == [5, 5]
    assert not any(hypothesis.complete for hypothesis in hypotheses)


@pytest.mark.parametrize("asked", [{"prefix": "Der"}, {"forbidden": ["Hund"]}, {"tree": True}])
def test_what_the_engine_cannot_do_is_refused(bundled_engine, asked):
    with pytest.raises(InputError, match="leave --engine ctranslate2 out"):
        bundled_engine.translate("A dog.", **asked)


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    def no_ctranslate2(name, *arguments, **options):
        if name.startswith("ctranslate2"):
            raise ModuleNotFoundError(name)
        return builtins.__import__(name, *arguments, **options)

    monkeypatch.setattr(importlib, "import_module", no_ctranslate2)
    with pytest.raises(errors.ConfigError, match=r"run pip install 'ctranslate2>=4\.6,<5'\.$"):
        CTranslate2Translator.load()
