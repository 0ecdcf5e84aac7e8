"""The speed of a training is measured where bfloat16 is emulated, too."""

import pytest

from benchmarks import training
from benchmarks.training import Turn, main
from training.devices import ProcessInfo

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("native", [True, False])
def test_a_loop_in_emulated_bfloat16_is_not_measured(
    native: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ProcessInfo, "has_native_bf16", native)
    monkeypatch.setattr(training, "_in_a_process", lambda _: Turn(1_000, 1.0))
    assert main(["--turns", "1"]) == 0
    printed = capsys.readouterr().out
    measured = [line.split("|")[2].strip() for line in printed.splitlines() if "demo" in line]
    assert measured == ["ours", "plain", *["plain bf16"] * native]
    assert ("no bfloat16 on this processor" in printed) != native
