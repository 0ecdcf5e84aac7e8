"""The command `evaluate bleu`: its numbers are sacreBLEU's, and what is wrong is one sentence."""

import hashlib
import json
import math
import re
import sys
from pathlib import Path

import pytest
import sacrebleu
import torch

from tests.conftest import Pair
from training.evaluate import main
from transformer import Tokenizer, Transformer, Translator
from transformer.checkpoints import checkpoint
from transformer.text.languages import Languages


@pytest.fixture(scope="module")
def checkpoint_folder(
    tmp_path_factory: pytest.TempPathFactory, model: Transformer, tokenizer: Tokenizer
) -> Path:
    """Random weights that write on and on; the shared model hardly writes a word."""
    folder = tmp_path_factory.mktemp("checkpoint") / "model"
    with torch.random.fork_rng():
        torch.manual_seed(5)
        checkpoint.save(folder, Transformer(model.config), tokenizer)
    return folder


@pytest.fixture(scope="module")
def texts(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair], checkpoint_folder: Path
) -> Path:
    """`in.en`; `ref.de` by hand, `own.de` by the model, `greedy.de` by its greedy search."""
    folder = tmp_path_factory.mktemp("texts")
    chosen = pairs[::25]
    translator, english = Translator.load(checkpoint_folder), [pair.english for pair in chosen]
    own = translator.translate_lines(english)
    assert all(len(line.split()) > 1 for line in own)
    for name, lines in (
        ("in.en", english),
        ("ref.de", [pair.german for pair in chosen]),
        ("own.de", own),
        ("greedy.de", translator.translate_lines(english, beam_size=1)),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def _command(checkpoint: Path, texts: Path, ref: str, *more: str) -> list[str]:
    files = ["--src", str(texts / "in.en"), "--ref", str(texts / ref)]
    return ["bleu", "--checkpoint", str(checkpoint), *files, *more]


def _result(
    checkpoint: Path, texts: Path, ref: str, capsys: pytest.CaptureFixture[str], *more: str
) -> dict[str, float | int | str]:
    assert main(_command(checkpoint, texts, ref, "--json", *more)) == 0
    return json.loads(capsys.readouterr().out)


def _error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("headlight evaluate: ")
    return printed.err


@pytest.mark.slow
def test_the_numbers_are_those_of_sacrebleu_itself(checkpoint_folder, texts, capsys):
    result = _result(checkpoint_folder, texts, "ref.de", capsys)
    own, reference = (
        (texts / name).read_text("utf-8").splitlines() for name in ("own.de", "ref.de")
    )
    bleu = sacrebleu.BLEU()
    assert result["bleu"] == pytest.approx(bleu.corpus_score(own, [reference]).score)
    assert result["signature"] == str(bleu.get_signature())
    assert "case:mixed" in str(result["signature"])
    assert "tok:13a" in str(result["signature"])
    assert result["chrf"] == pytest.approx(sacrebleu.corpus_chrf(own, [reference]).score)
    assert float(result["chrf"]) < 100


@pytest.mark.parametrize(
    ("languages", "options", "tokens"),
    [
        (Languages("German", "Chinese"), [], "zh"),
        (Languages("English", "Japanese"), [], "char"),  # whose package is not here
        (Languages("English", "Chinese"), ["--tokenize", "13a"], "13a"),
    ],
)
def test_the_tokens_are_those_of_the_target_or_as_asked_for(
    languages, options, tokens, checkpoint_folder, texts, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    given = checkpoint.load(checkpoint_folder)
    checkpoint.save(tmp_path / "model", given.model, given.tokenizer, languages=languages)
    assert (
        main(_command(tmp_path / "model", texts, "ref.de", "--json", "--beam", "1", *options)) == 0
    )
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    own, reference = (
        (texts / name).read_text("utf-8").splitlines() for name in ("greedy.de", "ref.de")
    )
    metric = sacrebleu.BLEU(tokenize=tokens)
    assert result["bleu"] == pytest.approx(metric.corpus_score(own, [reference]).score)
    assert f"|tok:{tokens}|" in result["signature"]
    assert (f"({tokens})" in printed.err) == (tokens in ("zh", "char"))
    assert ("sacrebleu[ja]" in printed.err) == (languages.target == "Japanese")


def test_tokens_whose_package_is_missing_are_refused(checkpoint_folder, texts, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mecab_ko", None)
    monkeypatch.setitem(sys.modules, "MeCab", None)
    command = _command(checkpoint_folder, texts, "ref.de", "--tokenize", "ja-mecab")
    assert "pip install 'sacrebleu[ja]'" in _error(command, capsys)


def test_several_references_are_those_of_sacrebleu(checkpoint_folder, texts, capsys):
    paths = {name: str(texts / name) for name in ("in.en", "ref.de", "own.de")}
    # several behind one option, and the option again
    files = ["--src", paths["in.en"], "--ref", paths["ref.de"], paths["own.de"]]
    files += ["--ref", paths["in.en"]]
    command = ["bleu", "--checkpoint", str(checkpoint_folder), "--beam", "1", "--json"]
    assert main([*command, *files]) == 0
    result = json.loads(capsys.readouterr().out)
    own, *references = (
        (texts / name).read_text("utf-8").splitlines()
        for name in ("greedy.de", "ref.de", "own.de", "in.en")
    )
    metric = sacrebleu.BLEU()
    assert result["bleu"] == pytest.approx(metric.corpus_score(own, references).score)
    assert result["chrf"] == pytest.approx(sacrebleu.CHRF().corpus_score(own, references).score)
    assert result["signature"] == str(metric.get_signature())
    single = _result(checkpoint_folder, texts, "ref.de", capsys, "--beam", "1")
    assert result["bleu"] > single["bleu"]
    assert result["loss"] == single["loss"]


def test_a_second_reference_where_one_is_read_and_a_table_are_refused(
    checkpoint_folder, texts, tmp_path, capsys
):
    twice = _command(checkpoint_folder, texts, "ref.de", "--ref", str(texts / "own.de"))
    for command in ("heads", "lines", "faithfulness"):
        with pytest.raises(SystemExit, match="2"):
            main([command, *twice[1:]])
        assert "only one reference is read" in capsys.readouterr().err
    (tmp_path / "in.en").write_text("One.\tEins.\nTwo.\tZwei.\n")
    assert re.search(
        "in.en is a table", _error(_command(checkpoint_folder, tmp_path, "in.en"), capsys)
    )


def test_json_has_every_number_under_its_name(checkpoint_folder, texts, capsys):
    result = _result(checkpoint_folder, texts, "ref.de", capsys, "--beam", "2", "--alpha", "1")
    assert set(result) == {
        "checkpoint", "weights", "src", "ref",
        "bleu", "signature", "chrf", "loss", "perplexity", "beam", "alpha", "sentences", "seconds",
    }  # fmt: skip
    assert (result["src"], result["ref"]) == (str(texts / "in.en"), str(texts / "ref.de"))
    assert result["checkpoint"] == str(checkpoint_folder)
    content = (checkpoint_folder / "model.safetensors").read_bytes()
    assert result["weights"] == hashlib.sha256(content).hexdigest()
    assert (result["sentences"], result["beam"], result["alpha"]) == (8, 2, 1.0)
    assert result["perplexity"] == pytest.approx(math.exp(float(result["loss"])))


def test_in_words_the_signature_follows_the_scores(checkpoint_folder, texts, capsys):
    assert main(_command(checkpoint_folder, texts, "own.de")) == 0
    scores, signature = capsys.readouterr().out.splitlines()
    assert scores.startswith("BLEU 100.00  chrF 100.00  loss ")
    assert signature.endswith("|beam:4|alpha:0.6")


@pytest.mark.parametrize(
    ("english", "german", "sentence"),
    [
        ("One.\nTwo.\n", "Eins.\n", "in.en has 2 lines and .*ref.de has 1"),
        ("One.\n\nTwo.\n", "Eins.\nLeer.\nZwei.\n", "in.en line 2 is empty"),
        ("The dog " * 300 + "\nOne.\n", "Der Hund.\nEins.\n", "1 pairs of .* more than 255 pieces"),
    ],
)
def test_lines_that_cannot_be_compared_are_named(
    checkpoint_folder, tmp_path, capsys, english, german, sentence
):
    (tmp_path / "in.en").write_text(english)
    (tmp_path / "ref.de").write_text(german)
    arguments = _command(checkpoint_folder, tmp_path, "ref.de")
    assert re.search(sentence, _error(arguments, capsys))


def test_a_model_that_computes_no_numbers_is_not_measured(
    texts, tmp_path, model, tokenizer, capsys
):
    large = Transformer(model.config)
    with torch.no_grad():
        large.get_parameter("decoder.layers.0.feed_forward.W_2.weight").fill_(1e38)
    checkpoint.save(tmp_path / "large", large, tokenizer)
    message = _error(_command(tmp_path / "large", texts, "ref.de"), capsys)
    assert "computes numbers that are not finite" in message
