"""The speed of a training is measured where torch.compile fails, too."""

from __future__ import annotations

import pytest
import torch

from benchmarks.training import main

TINY = [
    "--layers", "1", "--batch-tokens", "64", "--steps", "1", "--warmup", "0", "--turns", "1",
    "--alone", "--compile",
]  # fmt: skip


def test_where_layers_cannot_be_compiled_it_is_said_and_measured_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise RuntimeError("attn_bias is not\ncorrectly aligned.\n\nSet TORCH_LOGS\n")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: compiled)
    assert main(TINY) == 0
    printed = capsys.readouterr()
    row, sentence = printed.out.splitlines()[-2:]
    assert row.startswith("| demo, N = 1, 64 tokens a batch | ours |")
    assert sentence.startswith("demo: torch.compile fails here, so ours is not compiled: attn_bias")
    assert sentence.endswith("is not correctly aligned.")
    assert printed.err == ""
