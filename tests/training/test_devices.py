"""Demands of a run on its device and on the libraries below, and what is slow on a GPU.

The latter shows without one: cuts in compiled layers, a residual stream that is cast.
"""

import dataclasses
import os

import pytest
import torch
from torch import Tensor, fx
from torch.nn.functional import scaled_dot_product_attention

from training import update
from training.data import batches
from training.devices import (
    LostProcessError,
    _cpu_has_bf16,
    inference_device,
    join_processes,
    set_up_distributed,
)
from transformer import config, masks
from transformer.attention import MultiHeadAttention
from transformer.errors import ConfigError
from transformer.model import Transformer

CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def test_the_caches_of_kernels_are_limited_unless_the_user_sets_them(monkeypatch):
    monkeypatch.setenv(CACHES[0], "1024")
    monkeypatch.delenv(CACHES[1], raising=False)
    set_up_distributed()
    assert [os.environ[name] for name in CACHES] == ["1024", "100"]


@pytest.mark.parametrize(
    ("flags", "native"),
    [
        ("fpu sse4_2 avx2 f16c", False),
        ("avx2 avx512f avx512_bf16", True),
        ("avx512f amx_bf16 amx_tile", True),
        ("fp asimd i8mm bf16", True),
        ("fp asimd", False),
    ],
)
def test_bf16_is_native_where_the_processor_says_so(flags, native, tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"model name\t: Some processor\nflags\t\t: {flags}\n")
    assert _cpu_has_bf16(cpuinfo) is native
    assert _cpu_has_bf16(tmp_path / "no such file")  # a system that does not say


@pytest.mark.parametrize("chosen", [lambda: set_up_distributed().device, inference_device])
def test_on_a_gpu_attention_is_not_planned_shape_by_shape(chosen, monkeypatch):
    backends = torch.backends.cuda
    backends.enable_cudnn_sdp(True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    try:
        assert chosen().type == "cuda"
        assert not backends.cudnn_sdp_enabled()
        assert backends.flash_sdp_enabled()
        assert backends.mem_efficient_sdp_enabled()
    finally:
        backends.enable_cudnn_sdp(True)


CONFIG = config.TransformerConfig(vocab_size=50, N=2, d_model=16, d_ff=32, h=2)
SIZES = (9, 12, 12), (9, 8, 12), (7, 16, 12), (30, 4, 4)
"""Rows, source and target of batches; lengths that are equal at first are one to the compiler."""


def batch(rows: int, source: int, target: int) -> batches.Batch:
    ids = torch.randint(4, 50, (rows, source)), torch.randint(4, 50, (rows, target))
    ids[0][0, -1] = config.PAD
    return batches.Batch(ids[0], ids[1], ids[1])


def fail(*_: object) -> None:
    raise ZeroDivisionError


@pytest.mark.slow
def test_compiled_layers_are_a_few_graphs_whatever_the_lengths(monkeypatch):
    """A cut leaves the attention out; one graph for each length would be compiled for ever.

    They are compiled once for all contexts, and so hold no hooks, such as one that fails.
    """
    monkeypatch.setattr(MultiHeadAttention, "_needs_weights", lambda *_: False)  # as on a GPU
    graphs: list[fx.GraphModule] = []

    def backend(graph: fx.GraphModule, _inputs: list[Tensor]) -> fx.GraphModule:
        graphs.append(graph)
        return graph

    torch.compiler.reset()
    # the dropout of a CPU is one that is not compiled
    model = Transformer(dataclasses.replace(CONFIG, P_drop=0)).train()
    for layer in (*model.encoder.layers, *model.decoder.layers):
        layer.compile(dynamic=True, backend=backend)
    loss = update.SummedLoss(model)
    for sizes in SIZES:
        made = batch(*sizes)
        with model.hooks({"encoder.layers.0.self_attention.hook_q": fail}):
            loss(made.source, made.target, made.labels).backward()
    torch.compiler.reset()
    kernels = [
        [node.kwargs for node in graph.graph.nodes if node.target is scaled_dot_product_attention]
        for graph in graphs
    ]
    calls = [
        [(call["attn_mask"] is not None, bool(call["is_causal"])) for call in graph]
        for graph in kernels
    ]
    # the decoder layer twice, since source and target were equally long at first, and the encoder
    # layer; without a mask tensor the flash kernel serves
    decoder = [(False, True), (True, False)]
    assert sorted(calls) == [decoder, decoder, [(True, False)]]


def test_the_residual_stream_stays_in_bfloat16_where_a_norm_gives_float32(monkeypatch):
    """As autocast lets it on a GPU; each product after it would cast the stream back."""
    norm = torch.nn.LayerNorm.forward
    monkeypatch.setattr(torch.nn.LayerNorm, "forward", lambda self, x: norm(self, x.float()))
    model = Transformer(CONFIG).train()
    made = batch(3, 8, 12)
    with torch.autocast("cpu", torch.bfloat16):
        memory = model.encode(made.source)
        decoded = model.decode(made.target, memory, masks.padding_mask(made.source))
    assert (memory.dtype, decoded.dtype) == (torch.bfloat16, torch.bfloat16)


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(ConfigError, match="Process 3 of this machine has no GPU, since it has 2"):
        set_up_distributed()


def test_processes_that_nothing_brings_together_are_told_how(monkeypatch) -> None:
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LostProcessError, match=r"Process 1 of the 2 .* start all of .* torchrun\."):
        join_processes(torch.device("cpu"), 1, 2)
