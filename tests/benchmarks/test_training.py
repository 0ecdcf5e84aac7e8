"""The speed of a training is measured where torch.compile fails, or bfloat16 is emulated, too."""

import pytest
import torch

from benchmarks import training
from benchmarks.training import Turn, main
from training.devices import ProcessInfo
from transformer.config import TransformerConfig

pytestmark = pytest.mark.slow

ONE_STEP = ["--batch-tokens", "64", "--steps", "1", "--warmup", "0", "--turns", "1"]
TINY = TransformerConfig(vocab_size=40, N=1, d_model=16, d_ff=16, h=2)


def test_where_layers_cannot_be_compiled_it_is_said_and_measured_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise RuntimeError("attn_bias is not\ncorrectly aligned.\n\nSet TORCH_LOGS\n")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: compiled)
    monkeypatch.setattr(training, "_config", lambda *_: TINY)
    assert main([*ONE_STEP, "--alone", "--compile"]) == 0
    printed = capsys.readouterr()
    row, sentence = printed.out.splitlines()[-2:]
    assert row.startswith("| demo, N = 1, 64 tokens a batch | ours |")
    assert sentence.startswith("demo: torch.compile fails here, so ours is not compiled: attn_bias")
    assert sentence.endswith("is not correctly aligned.")
    assert printed.err == ""


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
