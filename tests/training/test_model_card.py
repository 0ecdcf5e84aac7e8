"""The model card: what it says is what the files of the run say."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import RECIPE, run_in
from training.evaluate import main as evaluate
from training.model_card import cell, main
from transformer import Translator
from transformer.checkpoints import checkpoint


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A complete run of 24 steps with what the paper has not."""
    text = RECIPE.replace("lr_factor = 1.0", "lr_factor = 2.5")
    more = "cooldown = 6\nr_drop = 0.5\ndepth_scaled = true\n"
    return run_in(tmp_path_factory.mktemp("run"), data, recipe=text + more)


def _card(run: Path, out: Path, *more: str) -> str:
    assert main([str(run), "--out", str(out), *more]) == 0
    return out.read_text("utf-8")


def _rows(card: str) -> dict[str, str]:
    """The tables of two columns, by the first."""
    cells = [line.strip("|").split(" | ") for line in card.splitlines() if line.startswith("|")]
    return {row[0].strip(): row[1].strip() for row in cells if len(row) == 2}


def _log(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "run.jsonl").read_text().splitlines()]


def test_the_run_is_described_by_its_own_files(run: Path, tmp_path: Path) -> None:
    rows, log = _rows(_card(run, tmp_path / "CARD.md")), _log(run)
    model = checkpoint.load(run / "averaged").model
    assert rows["shape"] == (
        "N = 1, d_model 32, h 2, d_k 16, d_v 16, d_ff 64, sinusoidal positions up to 1,024; "
        f"{model.number_of_parameters():,} parameters"
    )
    assert rows["vocabulary"].startswith("120 pieces")
    assert rows["weights"] == "the mean of the last checkpoints, steps 16, 24"
    logged = [record for record in log if "loss" in record]
    assert rows["steps"] == f"24 of 24, in epoch {logged[-1]['epoch'] + 1}"
    assert rows["update"].startswith("up to 200 padded tokens")
    assert rows["optimiser"].endswith("12 steps of warmup")
    assert rows["regularisation"] == "P_drop 0.1, ε_ls 0.1"
    assert rows["machine"].endswith("float32")
    assert rows["training loss"].startswith(f"{logged[-1]['loss']:.3f} at step 24")
    last = [record for record in log if "validation_loss" in record][-1]
    assert f"loss {last['validation_loss']:.3f}" in rows["validation"]
    assert f"BLEU (greedy) {last['validation_bleu']:.2f}" in rows["validation"]
    assert "0 left out as empty or too long" in rows["text"]


def test_what_is_not_in_the_paper_is_named(run: Path, tmp_path: Path) -> None:
    assert _rows(_card(run, tmp_path / "CARD.md"))["not in the paper"] == (
        "a factor of 2.5 on the rate of equation 3; a rate that falls to 0 over the last 6 steps; "
        "R-Drop with α = 0.5 (Wu et al. 2021, arXiv:2106.14448); "
        "first weights of layer l divided by √l (Zhang et al. 2019)"
    )


def test_tokens_and_time_are_added_up_from_the_log(run: Path, tmp_path: Path) -> None:
    made = shutil.copytree(run, tmp_path / "changed")
    times = [(4, 100.0, 60.0), (8, 200.0, 3600.0), (12, 50.0, 7260.0)]
    records = [_log(run)[0], *({"step": s, "epoch": 1, "loss": 2.0, "lr": 1e-3,
               "tokens_per_second": speed, "seconds": t} for s, speed, t in times)]  # fmt: skip
    (made / "run.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in records))
    rows = _rows(_card(made, tmp_path / "CARD.md"))
    # 60 s at 100, then 3,540 s at 200, then 3,660 s at 50: 897,000 tokens in 7,260 s
    assert rows["target tokens"] == "897,000, 124 a second"
    assert rows["time of the updates"] == "2.0 h"
    assert rows["steps"] == "12 of 24, in epoch 2"
    assert "validation" not in rows


def test_before_the_end_the_card_is_of_the_last_checkpoint(run: Path, tmp_path: Path) -> None:
    made = shutil.copytree(run, tmp_path / "changed")
    with (made / "run.jsonl").open("a") as log:  # of more steps, which the mean has not
        log.write(json.dumps({"step": 28, "loss": 1.5}) + "\n")
    assert _rows(_card(made, tmp_path / "CARD.md"))["weights"] == "the checkpoint of step 24"
    shutil.rmtree(made / "averaged")
    assert _rows(_card(made, tmp_path / "CARD.md"))["weights"] == "the checkpoint of step 24"
    shutil.rmtree(made / "checkpoints")
    assert "has no checkpoint yet" in _refused([str(made), "--out", str(tmp_path / "no.md")])


def test_figures_stand_before_and_after_in_one_table(run, tmp_path, checkpoint_folder, capsys):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "in.en").write_text("The dog sees one bird.\nThe man likes no horse.\n", "utf-8")
    (texts / "ref.de").write_text(
        "Der Hund sieht einen Vogel.\nDer Mann mag keinen Esel.\n", "utf-8"
    )
    files, result = ["--src", str(texts / "in.en"), "--ref", str(texts / "ref.de")], []
    for number, folder in enumerate((checkpoint_folder, run / "averaged")):
        command = ["bleu", "--checkpoint", str(folder), *files, "--beam", "1", "--json"]
        assert evaluate([*command, *(["--multi30k"] if number else [])]) == 0
        result.append(capsys.readouterr().out)
        (tmp_path / f"{number}.json").write_text(result[-1])
    given = [str(tmp_path / f"{number}.json") for number in range(2)]
    card = _card(run, tmp_path / "CARD.md", "--evaluation", *given)
    before, after = map(json.loads, result)
    lines = card.splitlines()
    at = lines.index("| text | model | this model |")
    assert lines[at + 2] == (
        f"| in.en → ref.de, 2 sentences, beam 1, α 0.6 | BLEU {before['bleu']:.2f}<br>"
        f"chrF {before['chrf']:.2f}<br>perplexity {before['perplexity']:.2f} | "
        f"BLEU {after['bleu']:.2f}<br>lower-cased Moses BLEU {after['multi30k_bleu']:.2f}<br>"
        f"chrF {after['chrf']:.2f}<br>perplexity {after['perplexity']:.2f} |"
    )
    assert before["signature"] in card
    assert after["multi30k_signature"] in card
    # one text that only one of them was measured on
    alone = json.dumps({**after, "src": "deep/in.en"})
    (tmp_path / "0.json").write_text(f"{result[0]}\n{alone}\n")
    card = _card(run, tmp_path / "CARD.md", "--evaluation", *given)
    assert "| deep/in.en → ref.de, 2 sentences, beam 1, α 0.6 | – | BLEU " in card
    assert "| texts/in.en → ref.de, " in card


def test_examples_are_translated_by_the_weights_of_the_card(
    run, tmp_path, checkpoint_folder, pairs
):
    sentences = ["The dog sees one bird.", "A | b * c."]
    (tmp_path / "ten.txt").write_text("\n".join([sentences[0], "", sentences[1]]) + "\n", "utf-8")
    given = ["--examples", str(tmp_path / "ten.txt")]
    card = _card(run, tmp_path / "CARD.md", *given)
    after, before = Translator.load(run / "averaged"), Translator.load(checkpoint_folder)
    written = [cell(after.translate(entry).text) for entry in sentences]
    assert f"| {sentences[0]} | {written[0]} |" in card
    assert rf"| A \| b \* c. | {written[1]} |" in card
    (tmp_path / "notes.md").write_text("## What it is for\n\nLooking *inside*.\n", "utf-8")
    given += ["--notes", str(tmp_path / "notes.md"), "--before", str(checkpoint_folder)]
    card = _card(run, tmp_path / "CARD.md", *given)
    notes = "\n\n## What it is for\n\nLooking *inside*.\n\n"
    places = [card.index(part) for part in ("## How it was trained", notes, "## Examples")]
    assert places == sorted(places)
    assert "| sentence | before | this model |" in card
    assert (
        f"| {sentences[0]} | {cell(before.translate(sentences[0]).text)} | {written[0]} |" in card
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["run", "--evaluation", "old.json"], "old.json line 1 does not say src, ref, "),
        (["run", "--examples", "empty"], "empty has 0 sentences: give from 1 to 100"),
        (["damaged"], "state.json is damaged"),
        (["unlogged"], "run.jsonl has no loss yet"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(
    run, tmp_path, monkeypatch, more, words
):
    monkeypatch.chdir(tmp_path)
    Path("run").symlink_to(run)
    Path("old.json").write_text('{"bleu": 4.5, "chrf": 3, "perplexity": 9, "beam": 4, '
                                '"alpha": 0.6, "sentences": 3}\n')  # fmt: skip
    Path("empty").write_text("\n")
    for name in ("damaged", "unlogged"):
        shutil.copytree(run / "state", Path(name) / "state")
    Path("damaged/state/state.json").write_text('{"config"')
    assert words in _refused([*more, "--out", "card.md"])
    assert not Path("card.md").exists()


def _refused(arguments: list[str]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        message: list[str] = []
        patch.setattr("transformer.cli.command.say", message.append)
        assert main(arguments) == 2
    (sentence,) = message
    return sentence
