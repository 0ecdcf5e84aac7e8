"""Every view that shows the sentence, and what it has to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from benchmarks.sentences.architecture import drawing, norms, work
from benchmarks.sentences.facts import Expected, Facts
from benchmarks.sentences.heads import heads
from benchmarks.sentences.inside import inside
from benchmarks.sentences.layers import layers
from benchmarks.sentences.masks import grids, removed
from benchmarks.sentences.positions import beyond, foot, without
from benchmarks.sentences.roles import measured, uniform
from benchmarks.sentences.taken_away import link, taken_away
from benchmarks.sentences.translate import translate
from benchmarks.sentences.why import why
from transformer import Translator

STEP_BY_STEP = {"view": "step by step", "step": "3"}

View: TypeAlias = tuple[str, dict[str, str], Callable[[Facts], Iterator[Expected]]]
"""A page, what its address asks for, and what it is to say."""


def views(translator: Translator) -> tuple[View, ...]:
    """All of them, for this model; the last layer is open where one head is."""
    N = translator.model.config.N
    return (
        ("translate", {}, translate),
        ("heads", {"kind": "encoder", "layer": "1", "head": "2"}, heads("encoder", 0, 1, None)),
        ("heads", {"kind": "decoder", "layer": "2", "head": "3"}, heads("decoder", 1, 2, None)),
        ("heads", {"kind": "cross", "layer": str(N), "head": "1"}, heads("cross", N - 1, 0, None)),
        (
            "heads",
            {"kind": "decoder", "layer": "1", "head": "4", **STEP_BY_STEP},
            heads("decoder", 0, 3, 2),
        ),
        (
            "heads",
            {"kind": "cross", "layer": "2", "head": "5", **STEP_BY_STEP},
            heads("cross", 1, 4, 2),
        ),
        ("inside", {"kind": "encoder", "head": "1"}, inside("encoder", None)),
        ("inside", {"kind": "decoder", "head": "1"}, inside("decoder", None)),
        (
            "inside",
            {"kind": "cross", "head": "1", "scale_of": "none"},
            inside("cross", 1.0),
        ),
        (
            "roles",
            {"roles_view": "Roles", "kind": "cross", "layer": str(N), "head": "1"},
            measured("cross", N - 1, 0),
        ),
        (
            "roles",
            {"roles_view": "Faithful?", "faithful_test": "uniform attention", "kind": "decoder"},
            uniform("decoder"),
        ),
        (
            "roles",
            {
                "roles_view": "Take away",
                "kind": "cross",
                "layer": str(N),
                "head": "8",
                "removed": link(translator),
            },
            taken_away,
        ),
        (
            "roles",
            {"roles_view": "Why this word", "kind": "cross", "layer": str(N), "head": "1"},
            why("cross", N - 1, 0),
        ),
        (
            "roles",
            {
                "roles_view": "Why this word",
                "kind": "encoder",
                "layer": str(N),
                "head": "3",
                "written": "2",
                "why_heads": "direct logits",
            },
            why("encoder", N - 1, 2, 1, by_logits=True),
        ),
        ("roles", {"roles_view": "Layer by layer"}, layers()),
        ("roles", {"roles_view": "Layer by layer", "written": "2"}, layers(1)),
        ("masks", {"kind": "encoder"}, grids("encoder")),
        ("masks", {"kind": "decoder", "mask-row": "3"}, grids("decoder", 2)),
        ("masks", {"kind": "cross", "mask-sentence": "3"}, grids("cross", 2, 2)),
        ("masks", {"kind": "encoder", "mask-view": "take it away"}, removed("encoder")),
        ("masks", {"kind": "decoder", "mask-view": "take it away"}, removed("decoder")),
        ("masks", {"kind": "cross", "mask-view": "take it away"}, removed("cross")),
        ("positions", {"pe_view": "Your sentence"}, foot),
        ("positions", {"pe_view": "Beyond", "pe_moved": "64"}, beyond),
        ("positions", {"pe_view": "Without", "pe_seed": "3"}, without),
        ("architecture", {}, drawing()),
        (
            "architecture",
            {"arch_box": "Cross-attention of the decoder"},
            drawing("decoder.cross_attention"),
        ),
        (
            "architecture",
            {"arch_box": "Feed forward of the decoder"},
            drawing("decoder.feed_forward"),
        ),
        ("architecture", {"arch_box": "Softmax"}, drawing("decoder.softmax")),
        ("architecture", {"arch_view": "work and memory"}, work),
        ("architecture", {"arch_view": "norms"}, norms),
    )
