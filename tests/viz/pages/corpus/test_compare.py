"""The view “Compare”: its numbers are those of the analysis, from a model here and from a file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.viz import app_test
from tests.viz.app.view.programs import Programs, check
from tests.viz.pages.corpus.conftest import frame, press
from transformer import InputError, Translator
from transformer.checkpoints import checkpoint
from transformer.corpus import comparison, measuring, result_file
from transformer.corpus.measured import LOG_P, MeasuredLines
from viz.app.models import menu
from viz.pages.corpus import compare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def other_folder(trained_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second checkpoint: the first one, with noise."""
    translator = Translator.load(trained_folder)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in translator.model.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.add_(0.2 * weight.std(correction=0) * noise)
    folder = tmp_path_factory.mktemp("models") / "other"
    checkpoint.save(folder, translator.model, translator.tokenizer)
    return folder


def require_comparison(app: AppTest, lines: MeasuredLines, second: MeasuredLines) -> None:
    """Compare the tables of the page with the analysis."""
    sentences = comparison.compared_sentences(lines, second)
    shown = frame(app, "alike")
    assert list(shown["line"]) == list(sentences["line"])
    assert list(shown["second"]) == list(sentences["second"])
    assert list(shown[f"Δ {LOG_P}"]) == pytest.approx(list(sentences[LOG_P]))
    assert shown["alike"].min() < 100
    heads = comparison.compared_heads(lines, second, "confidence")
    table = frame(app, "difference")
    for name in ("first", "second", "difference", "low", "high"):
        assert list(table[name]) == pytest.approx(list(heads[name]))


def test_a_model_here_measures_the_lines_under_their_numbers(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    other_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    listed: Programs,
) -> None:
    monkeypatch.setenv(menu.MODELS_VARIABLE, str(other_folder.parent))
    app = press(view("Compare", second_model="other"), compare.JOB)
    translator, lines = measured
    texts_of_lines = {pair.number: pair.source for pair in lines.pairs}
    numbered = [texts_of_lines.get(number, "") for number in range(1, 7)]
    second = measuring.measure_lines(Translator.load(other_folder), numbered, costs=False)
    require_comparison(app, lines, second)
    links = other_folder.parent / translator.folder.name
    links.symlink_to(translator.folder)
    monkeypatch.chdir(other_folder.parent)  # the code names the folders alone
    check(*listed[-1])


def test_a_file_of_another_model_is_compared_unchecked_and_a_bad_one_changes_nothing(
    view: Callable[..., AppTest],
    measured: tuple[Translator, MeasuredLines],
    other_folder: Path,
) -> None:
    translator, lines = measured
    other = Translator.load(other_folder)
    second = measuring.measure_lines(other, [pair.source for pair in lines.pairs][:2], costs=False)
    content = result_file.to_bytes(second)
    with pytest.raises(InputError, match="another model"):
        result_file.from_bytes(content, translator)
    assert result_file.read_unchecked(content).pairs == second.pairs
    app = view("Compare", compare_with="a result file")

    def send(content: bytes) -> AppTest:
        app.file_uploader(key=compare.FILE).set_value(("second.safetensors", content, "")).run()
        assert not app.exception
        return app

    send(content)
    require_comparison(app, lines, second)
    assert [text for text in app_test.texts(app) if "Not checked" in text]
    # a file that claims to be of this model is scored by it
    pairs = tuple(pair._replace(target="forged") for pair in second.pairs)
    forged = replace(second, checksum=lines.checksum, pairs=pairs)
    for bad in (content[:-9], b"", result_file.to_bytes(forged)):
        send(bad)
        require_comparison(app, lines, second)
    fewer = replace(
        second,
        heads=second.heads[:-1],
        head_values={name: values[:, :-1] for name, values in second.head_values.items()},
        offset_counts=second.offset_counts[:-1],
    )
    send(result_file.to_bytes(fewer))
    assert len(frame(app, "alike")) == 2
    assert not [table for table in app.dataframe if "difference" in table.value]
    none_common = replace(
        second, pairs=tuple(p._replace(number=p.number + 50) for p in second.pairs)
    )
    send(result_file.to_bytes(none_common))
    assert not app.dataframe
