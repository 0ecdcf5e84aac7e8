"""Benchmarks refuse numbers that measure nothing, and measure no loop in emulated bfloat16."""

import pytest

from benchmarks import __main__, training
from benchmarks.app import MOST
from training.devices import ProcessInfo


@pytest.mark.parametrize(
    "asked",
    [
        "training --turns 0",
        "readers --readers 1 0",
        "readers --seconds nan",
        f"app --sentences {MOST // 2}",  # two pages, each warmed up, on one server that remembers
        "pages --clicks 0",
    ],
)
def test_numbers_that_measure_nothing_are_refused(
    asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        __main__.main(asked.split())
    assert stopped.value.code == 2
    assert f"argument {asked.split()[1]}: '{asked.split()[-1]}' must be" in capsys.readouterr().err


@pytest.mark.parametrize("native", [True, False])
def test_a_loop_in_emulated_bfloat16_is_not_measured(
    native: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ProcessInfo, "has_native_bf16", native)
    monkeypatch.setattr(training, "_in_a_process", lambda _: training.Turn(1_000, 1.0))
    assert training.main(["--turns", "1"]) == 0
    printed = capsys.readouterr().out
    measured = [line.split("|")[2].strip() for line in printed.splitlines() if "demo" in line]
    assert measured == ["ours", "plain", *["plain bf16"] * native]
    assert ("no bfloat16 on this processor" in printed) != native
