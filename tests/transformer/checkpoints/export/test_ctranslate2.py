import io
import json
import shutil
import sys

import numpy as np
import pytest

from transformer import CheckpointError, Translator, __main__, export
from transformer.analysis import alignment
from transformer.analysis.alignment_settings import read_alignment
from transformer.checkpoints import checkpoint, domain
from transformer.checkpoints.export import ctranslate2
from transformer.checkpoints.export.manifest import EXPORT
from transformer.engine import CTranslate2Translator
from transformer.files.installed import BUNDLED
from transformer.text import languages

TEXT = "The dog waits beside the river."


@pytest.fixture(scope="module")
def exported(tmp_path_factory, checkpoint_folder):
    """Export a checkpoint that states its domain."""
    given = tmp_path_factory.mktemp("given") / "model"
    shutil.copytree(checkpoint_folder, given)
    (given / domain.FILE).write_text('{"made_for": "short sentences", "least_log_prob": -0.5}')
    out = tmp_path_factory.mktemp("exported") / "deep" / "model"
    assert export.main(["ctranslate2", "--checkpoint", str(given), "--out", str(out)]) == 0
    return out


def test_the_folder_is_complete_and_says_what_it_was_made_from(exported, checkpoint_folder):
    read = ctranslate2.read(exported)
    loaded = checkpoint.load(checkpoint_folder)
    assert (read.checksum, read.model.config) == (loaded.checksum, loaded.model.config)
    assert read.tokenizer.model == loaded.tokenizer.model
    assert {*ctranslate2.REQUIRED, domain.FILE, EXPORT} == {
        path.name for path in exported.iterdir()
    }
    assert [path.name for path in exported.parent.iterdir()] == ["model"]  # nothing is left over


def test_the_languages_of_the_checkpoint_are_those_of_the_export(tmp_path, checkpoint_folder):
    given, french_dutch = checkpoint.load(checkpoint_folder), languages.Languages("French", "Dutch")
    checkpoint.save(tmp_path / "model", given.model, given.tokenizer, languages=french_dutch)
    ctranslate2.write(checkpoint.load(tmp_path / "model"), tmp_path / "out")
    assert CTranslate2Translator.load(tmp_path / "out").languages == french_dutch


def test_it_translates_without_the_checkpoint(exported, checkpoint_folder, capsys, monkeypatch):
    moved = exported.with_name("moved")
    shutil.copytree(exported, moved)
    command = ["--engine", "ctranslate2", "--beam", "1", TEXT]
    assert __main__.main(["--checkpoint", str(moved), *command]) == 0
    assert capsys.readouterr().out.strip()
    engine = CTranslate2Translator.load(moved)
    ours = Translator.load(checkpoint_folder)
    assert engine.checksum == ours.checksum
    for options in (["--align"], ["--score", "--target", "Ein"]):
        assert __main__.main(["--checkpoint", str(moved), *command[:2], TEXT, *options]) == 2
        assert "take the checkpoint that it was exported from" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{TEXT}\n{TEXT}\n".encode())))
    assert __main__.main(["--checkpoint", str(moved), *command[:2], "--align"]) == 2  # told once
    refusal = f"headlight translate: {moved} holds a model for CTranslate2"
    assert capsys.readouterr().err.startswith(refusal)
    assert __main__.main(["--checkpoint", str(moved), TEXT]) == 2
    assert "add --engine ctranslate2" in capsys.readouterr().err


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
    assert CTranslate2Translator.load(out).translate(TEXT).text
    assert export.main(command) == 0  # its own is replaced
    assert (out / "model.bin").stat().st_size == full


@pytest.mark.parametrize("change", [{"format": 2}, {"sha256": {}}, {"checkpoint": None}])
def test_a_manifest_that_says_something_else_is_refused(exported, tmp_path, change):
    other = tmp_path / "other"
    shutil.copytree(exported, other)
    manifest = json.loads((other / EXPORT).read_text()) | change
    if change == {"checkpoint": None}:
        del manifest["checkpoint"]
    (other / EXPORT).write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match=EXPORT):
        ctranslate2.read(other)


def test_a_changed_file_is_named(exported, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(exported, broken)
    (broken / "model.bin").write_bytes(b"other")
    with pytest.raises(CheckpointError, match=r"model\.bin is damaged"):
        ctranslate2.read(broken)
