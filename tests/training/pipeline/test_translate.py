"""The training text in a model's words: the same in chunks as whole, and as the search finds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.conftest import sentence_pairs, write_pairs
from training.devices import ProcessInfo
from training.pipeline import translate as module
from training.pipeline.translate import main
from transformer import checkpoint
from transformer.config import EOS, TransformerConfig
from transformer.decoding import bulk_search
from transformer.model import Transformer
from transformer.tokenizer import Tokenizer
from transformer.translator import Translator


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights, and a bias by which some sentences come to an end, and some do not."""
    lines = [line for pair in sentence_pairs(300) for line in pair]
    tokenizer = Tokenizer.train(lines, 120)
    torch.manual_seed(1)
    config = TransformerConfig(
        vocab_size=120, N=2, d_model=32, d_ff=64, h=4, max_length=64, output_bias=True
    )
    model = Transformer(config).eval()
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[EOS] = 1.5
    folder = tmp_path_factory.mktemp("made") / "model"
    checkpoint.save(folder, model, tokenizer)
    return folder


def text(folder: Path) -> tuple[list[str], list[str]]:
    read = [(folder / f"train.{name}").read_text("utf-8").splitlines() for name in ("en", "de")]
    return read[0], read[1]


def arguments(model: Path, data: Path, out: Path, *more: str) -> list[str]:
    return ["--checkpoint", str(model), "--data", str(data), "--out", str(out), *more]


def test_chunks_of_a_translation_that_was_stopped_give_what_it_gives_whole(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_pairs(data / "train", sentence_pairs(180))
    monkeypatch.setattr(module, "ROWS_ON_CPU", 80)  # batches of a few sentences
    search, searches, stop_at, sentences = bulk_search, 0, 0, 0

    def counted(model: Transformer, batch: torch.Tensor, **named: Any) -> list[list[int]]:
        nonlocal searches, sentences
        searches += 1
        if searches == stop_at:
            raise KeyboardInterrupt
        sentences += len(batch)
        return search(model, batch, **named)

    monkeypatch.setattr(module, "bulk_search", counted)
    assert main(arguments(model, data, tmp_path / "whole", "--beam", "2")) == 0
    every = sentences
    source, target = text(tmp_path / "whole")
    originals = list(dict.fromkeys((data / "train.en").read_text("utf-8").splitlines()))
    assert 20 < len(source) < len(originals)  # some have no end, and are left out
    assert source == [line for line in originals if line in set(source)]
    translator = Translator.load(model)
    for line, found in list(zip(source, target, strict=True))[:20]:
        assert found == " ".join(translator.translate(line, beam_size=2).text.split())

    cut = arguments(model, data, tmp_path / "cut", "--beam", "2", "--chunk", "20")
    searches, stop_at = 0, 28
    assert main(cut) == 130
    assert not (tmp_path / "cut" / "train.de").exists()
    saved = len(list((tmp_path / "cut" / "chunks").iterdir()))
    assert saved > 2
    # an earlier version named its chunks otherwise
    endless = next(i for i, line in enumerate(originals) if line not in set(source))
    earlier = tmp_path / "cut" / "chunks" / "00000.json"
    earlier.write_text(json.dumps({str(endless): "Falsch."}))
    searches = stop_at = sentences = 0
    monkeypatch.setattr(module, "ROWS_ON_CPU", 300)  # as if on another device
    # a multiple that the model does not accept
    monkeypatch.setattr(ProcessInfo, "length_multiple", 100)
    assert main(cut) == 0
    assert text(tmp_path / "cut") == (source, target)
    assert sentences == every - 20 * saved  # what was saved was not made again
    searches = 0
    assert main(cut) == 0
    assert searches == 0


def test_a_model_of_the_other_direction_reads_the_target(
    model: Path, data: Path, tmp_path: Path
) -> None:
    assert main(arguments(model, data, tmp_path / "new", "--side", "target", "--beam", "1")) == 0
    source, target = text(tmp_path / "new")
    assert set(target) <= set((data / "train.de").read_text("utf-8").splitlines())
    translator = Translator.load(model)
    assert source[0] == " ".join(translator.translate(target[0], beam_size=1).text.split())


def test_a_folder_of_another_translation_is_refused_and_left(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(model, data, tmp_path / "new", "--beam", "1")) == 0
    before = text(tmp_path / "new")
    assert main(arguments(model, data, tmp_path / "new", "--beam", "2")) == 2
    assert "with other settings: choose another --out" in capsys.readouterr().err
    assert text(tmp_path / "new") == before
