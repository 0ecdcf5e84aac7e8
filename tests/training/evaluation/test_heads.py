"""The command `evaluate heads`: figures that others compute alike, stored beside the checkpoint."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from training import evaluate
from training.data import corpus
from training.evaluation import heads
from transformer import CheckpointError, Translator, kinds
from transformer.analysis.axes import by_pieces
from transformer.analysis.heads import head, importance, removal
from transformer.analysis.heads import means as means_file
from transformer.corpus import corpus_roles, head_report


@pytest.fixture(scope="module")
def text(pairs) -> corpus.ParallelText:
    chosen = pairs[::67]
    return corpus.ParallelText([pair.english for pair in chosen], [pair.german for pair in chosen])


@pytest.fixture(scope="module", autouse=True)
def few_points() -> Iterator[None]:
    """A curve of three points is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "CURVE_POINTS", 2)
        yield


@pytest.fixture(scope="module")
def measured(tmp_path_factory, checkpoint_folder, text) -> Path:
    """A folder with the texts and the checkpoint that was measured with them."""
    folder = tmp_path_factory.mktemp("heads")
    shutil.copytree(checkpoint_folder, folder / "model")
    (folder / "in.en").write_text("\n".join([*text.source, "", "One."]) + "\n", "utf-8")
    (folder / "ref.de").write_text("\n".join([*text.target, "Leer.", ""]) + "\n", "utf-8")
    (folder / "own.txt").write_text("The dog sings.\nA cat waits.\nHer horse eats.\nMy frog.\n")
    assert run(folder, "--examples", str(folder / "own.txt"), "--bleu-sentences", "1") == 0
    return folder


def run(folder: Path, *more: str) -> int:
    files = ["--src", str(folder / "in.en"), "--ref", str(folder / "ref.de")]
    return evaluate.main(["heads", "--checkpoint", str(folder / "model"), *files, *more])


@pytest.mark.slow
def test_every_head_has_every_figure_and_three_examples(measured, model, text) -> None:
    report = head_report.read(measured / "model", model.config)
    assert report is not None
    assert [head_figures.place for head_figures in report.heads] == head.all_heads(model.config)
    assert (report.sentences, report.left_out, report.bleu_sentences) == (len(text), 2, 1)
    lines = (measured / "own.txt").read_text().splitlines()
    for head_figures in report.heads:
        expected = {*corpus_roles.MEASURES, *importance.IMPORTANCE} - (
            {"one-to-one"} if head_figures.place.kind != "cross" else set()
        )
        expected -= {"previous", "next", "itself"} if head_figures.place.kind == "cross" else set()
        assert set(head_figures.measures) == expected
        assert all(figure.low <= figure.high for figure in head_figures.measures.values())
        assert len(head_figures.examples) == 3
        assert {example.source for example in head_figures.examples} <= set(lines)
        scores = [example.score for example in head_figures.examples]
        assert scores == sorted(scores, reverse=True)
    for curve in report.curves.values():
        assert sorted(curve.order) == sorted(head.all_heads(model.config))
        assert [point.removed for point in curve.points] == [0, 12, 24]
        assert curve.points[0].bleu == report.bleu
    order = report.curves["gradient"].order
    gradients = [report.head(place).measures["gradient"].value for place in order]
    assert gradients == sorted(gradients)


def test_examples_have_the_score_of_their_role_on_the_models_own_translation(
    measured, model, translator
) -> None:
    report = head_report.read(measured / "model", model.config)
    assert report is not None
    seen = set()
    for figures in report.heads:
        role = figures.role or "confidence"
        for source, target, score in figures.examples if role in corpus_roles.ROLES else ():
            trace = translator.trace(source)
            assert trace.target == target
            axes = by_pieces(trace, figures.place.kind)
            values = corpus_roles.measure_sentence(
                axes, figures.place.kind, [0] * len(axes.labels.keys)
            ).values
            assert score == pytest.approx(values[role][figures.place[1:]], rel=1e-4)
            seen.add(role)
    assert seen


@pytest.mark.slow
def test_the_stored_means_are_those_of_z(measured, translator, text) -> None:
    model = translator.model
    means = means_file.read_means(measured / "model", model.config)
    assert means is not None
    seen: list[torch.Tensor] = []
    name = f"{kinds.attention_name('cross', 1)}.hook_z"
    with model.hooks({name: lambda z, _: seen.append(z[0])}):
        for pair in zip(text.source, text.target, strict=True):
            translator.trace(*pair)
    torch.testing.assert_close(means["cross"][1], torch.cat(seen, 1).mean(1), rtol=1e-4, atol=1e-5)
    result = Translator.load(measured / "model")  # and the way "mean" finds them by itself
    with removal.removed(result, [removal.Removal("cross", 1, 3, "mean")]):
        changed = result.trace(text.source[0], text.target[0])
    plain = result.trace(text.source[0], text.target[0])
    assert np.abs(changed.log_probs - plain.log_probs).max() > 1e-4


def test_what_is_wrong_is_one_sentence_and_nothing_is_written(measured, tmp_path, capsys) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "long.txt").write_text("The dog. " * 200)
    before = sorted((measured / "model").iterdir())
    for more, message in (
        (["--examples", str(tmp_path / "empty.txt")], "has no sentence"),
        (["--examples", str(tmp_path / "long.txt")], "long.txt sentence 1: The text has"),
    ):
        capsys.readouterr()
        assert run(measured, *more) == 2
        assert message in capsys.readouterr().err.splitlines()[-1]
    assert sorted((measured / "model").iterdir()) == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"format": 2',
            '"format": 1',
            "version wrote: run headlight evaluate heads",
        ),
        ('["cross", 1, 3]', '["cross", 1, 4]', "does not list the 24 heads of this model"),
        ('"weights": "', '"weights": "0', "was measured on other weights"),
    ],
)
def test_a_foreign_report_is_refused(measured, model, tmp_path, old, new, message) -> None:
    folder = Path(shutil.copytree(measured / "model", tmp_path / "model"))
    content = (folder / head_report.FILE).read_text("utf-8")
    assert old in content
    (folder / head_report.FILE).write_text(content.replace(old, new, 1), "utf-8")
    with pytest.raises(CheckpointError, match=message) as refused:
        head_report.read(folder, model.config)
    assert head_report.FILE in str(refused.value)


def test_foreign_means_are_refused(measured, model, tmp_path) -> None:
    folder = Path(shutil.copytree(measured / "model", tmp_path / "model"))
    path = folder / means_file.FILE
    for content, message in (
        (b"{}", "is not a safetensors file"),
        (b"\0" * 10**6, "bytes, but at most"),
    ):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=message):
            means_file.read_means(folder, model.config)
    path.unlink()
    assert means_file.read_means(folder, model.config) is None
