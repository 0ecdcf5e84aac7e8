"""The engine in the page computes what Python computes: node runs it on the same sentences."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import sentencepiece
import torch

from tests.conftest import Pair
from tests.js.engine_cases import (
    SOURCE_TOKENIZER,
    Case,
    compare,
    edited_cases,
    lines_reference,
    order_reference,
    reference,
)
from transformer import Tokenizer, Transformer, TransformerConfig, Translator
from transformer.checkpoints.checkpoint import CONFIG, TOKENIZER, WEIGHTS, Checkpoint
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME
from transformer.text.languages import OURS

ASSETS = Path(__file__).parents[2] / "assets"
ODD = [
    "Ⅳ ﬁne №7 ½ → ﷺ!", "naïve cafe\u0301 — “so”…", "中国 和 日本。", "😀👩‍🚀 look", "שלום עולם",
    "Aa\u0085b\u001cc\ufeffd", "x▁y▁", "\ufeffHello", "a\u0e33ก", "ＡＢＣ１２３",
    "don't re-enter 3,141.59%",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Short sentences take less of both cores on one of them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def require_equal(compared: dict[str, Any]) -> None:
    assert compared["differing"] == []
    for name, apart in compared["worst"].items():
        assert apart <= (1e-4 if name in ("logProbs", "order") else 1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bundled", "bundled-de-en"])
def test_it_translates_as_python(
    node: list[str], name: str, bundled: Translator, reverse_bundled: Translator
) -> None:
    translator = bundled if name == "bundled" else reverse_bundled
    file = "examples.txt" if name == "bundled" else "examples-de.txt"
    texts = (ASSETS / file).read_text("utf-8").splitlines()
    short = sorted(texts, key=len)[:6]
    cases = [Case(text) for text in [*short[4:], ODD[1]]]
    for kind, text in enumerate(short[:4]):  # heads removed, rows painted, a prefix, all three
        cases.append(edited_cases(translator, text, seed=kind)[kind])
    message = {
        "cases": [reference(translator, case) for case in cases],
        "lines": lines_reference(translator.reader.source_tokenizer, [*texts, *ODD]),
    }
    compared = compare(BUNDLED_BY_NAME.get(name, BUNDLED), message)
    require_equal(compared)
    assert compared["wordsApart"] == 0
    assert len(compared["milliseconds"]) == 7


def trained(text: list[str], size: int, **options: Any) -> Tokenizer:
    """Train a tokenizer of another kind than ours."""
    import io

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(text), model_writer=written, vocab_size=size, pad_id=0, unk_id=1,
        bos_id=2, eos_id=3, minloglevel=2, **options,
    )  # fmt: skip
    return Tokenizer(written.getvalue())


SHAPES: dict[str, dict[str, Any]] = {
    "one layer, three heads, unigram": {
        "N": 1, "d_model": 18, "d_ff": 31, "h": 3, "d_k": 5, "d_v": 7, "activation": "gelu",
        "own_projection": True, "output_bias": True, "attention_bias": True, "max_length": 40,
    },
    "two vocabularies, another decoder, bytes": {
        "N": 2, "d_model": 24, "d_ff": 40, "h": 2, "decoder_N": 3, "decoder_h": 4,
        "decoder_d_ff": 28, "activation": "swish", "positions": "learned", "max_length": 48,
        "scale_embedding": False,
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_it_runs_models_of_other_shapes(
    node: list[str], name: str, pairs: list[Pair], tmp_path: Path
) -> None:
    english, german = [pair.english for pair in pairs], [pair.german for pair in pairs]
    options = {"model_type": "unigram", "hard_vocab_limit": False}
    unigram = trained(english + german, 150, normalization_rule_name="nmt_nfkc", **options)
    target, dtype = unigram, torch.bfloat16
    source, changes = unigram, dict(SHAPES[name])
    if "two" in name:
        source = trained(english, 320, model_type="bpe", byte_fallback=True)
        target, dtype = trained(german, 90, **options), torch.float32
        changes["source_vocab_size"] = source.vocab_size
    config = TransformerConfig(vocab_size=target.vocab_size, **changes)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(5)
        model = Transformer(config).eval()
        for parameter in model.parameters():
            noise = torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.1)
            parameter.copy_((parameter + noise).to(dtype))
    weights = {key: weight.to(dtype).contiguous() for key, weight in model.named_parameters()}
    safetensors.torch.save_file(weights, tmp_path / WEIGHTS)
    (tmp_path / CONFIG).write_text(json.dumps(config.to_dict()))
    (tmp_path / TOKENIZER).write_bytes(target.model)
    (tmp_path / SOURCE_TOKENIZER).write_bytes(source.model)
    translator = Translator(Checkpoint(model, source, tmp_path, "", target, OURS))
    texts = [english[n] for n in (3, 60, 150)]
    cases = [Case(text) for text in texts] + edited_cases(translator, texts[0], seed=1)
    message = {
        "cases": [reference(translator, case) for case in cases],
        "orders": [order_reference(translator, text, 9) for text in texts[:2]],
        "lines": lines_reference(source, [*english[::9], *german[::9], *ODD]),
    }
    compared = compare(tmp_path, message)
    require_equal(compared)
    # without WebAssembly, too
    require_equal(compare(tmp_path, {"cases": message["cases"][:2], "plain": True}))
