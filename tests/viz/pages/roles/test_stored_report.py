"""The report of a checkpoint is read once, and anew when a command has written it."""

from dataclasses import replace
from pathlib import Path

from tests.viz.pages.roles.made_reports import folder_with, head_report_of
from transformer import Translator
from transformer.analysis.corpus import head_report
from viz.pages.roles.stored_report import stored_report


def test_a_report_is_read_again_only_when_it_was_written(
    trained_folder: Path, tmp_path: Path
) -> None:
    model = Translator.load(trained_folder)
    first, second = (replace(head_report_of(model), sentences=n) for n in (60, 61))
    translator = Translator.load(folder_with(trained_folder, tmp_path / "made", first))
    result = stored_report(translator)
    assert result is not None
    assert result.sentences == 60
    assert stored_report(translator) is result
    path = translator.folder / head_report.FILE
    path.write_text(head_report.to_json(second) + "\n", encoding="utf-8")
    result = stored_report(translator)
    assert result is not None
    assert result.sentences == 61
    path.unlink()
    assert stored_report(translator) is None
