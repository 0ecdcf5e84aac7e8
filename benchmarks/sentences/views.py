"""Every view that shows the sentence, with the check of it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias
from urllib.parse import parse_qsl

from benchmarks.sentences.facts import KINDS, Expected, Facts, translate
from benchmarks.sentences.heads import heads, link, measured, taken_away, uniform
from benchmarks.sentences.logits import from_encoder_layers, layers, why
from benchmarks.sentences.masks import beyond, foot, grids, removed, without
from benchmarks.sentences.shapes import drawing, inside, norms, work
from benchmarks.sentences.sinks import scaled_heads, scaled_map, shares_of_source
from transformer import Translator

CROSS = "cross-attention"
View: TypeAlias = tuple[str, dict[str, str], Callable[[Facts], Iterator[Expected]]]
"""A page, the parameters of its address, and the sentences that it must say."""


def views(translator: Translator) -> tuple[View, ...]:
    """List all of them for this model; the last layer is open where one head is."""
    N = translator.model.config.N
    last_layer = f"layer={N}"
    why_word, away = "roles_view=Why this word", "mask-view=remove the mask"
    rows: tuple[tuple[str, str, Callable[..., Iterator[Expected]], tuple[object, ...]], ...] = (
        ("translate", "", translate, ()),
        ("heads", "kind=encoder&layer=1&head=2", heads, ("encoder", 0, 1, None)),
        ("heads", "kind=decoder&layer=2&head=3", heads, ("decoder", 1, 2, None)),
        (
            "heads",
            f"kind={CROSS}&{last_layer}&head=1",
            heads,
            (CROSS, N - 1, 0, None),
        ),
        ("translate", "without_sinks=true", scaled_map, ()),
        ("translate", "where_from=true", shares_of_source, ()),
        *(
            (
                "heads",
                f"kind={kind}&layer=3&head=4&without_sinks=true",
                scaled_heads,
                (kind, 2, 3),
            )
            for kind in KINDS
        ),
        ("inside", "kind=encoder&head=1", inside, ("encoder", None)),
        ("inside", "kind=decoder&head=1", inside, ("decoder", None)),
        (
            "inside",
            f"kind={CROSS}&{last_layer}&head=1&scale_of=none",
            inside,
            (CROSS, 1.0),
        ),
        (
            "roles",
            f"roles_view=Roles&kind={CROSS}&{last_layer}&head=1",
            measured,
            (CROSS, N - 1, 0),
        ),
        (
            "roles",
            f"roles_view=Roles&kind={CROSS}&layer=2&head=5",
            measured,
            (CROSS, 1, 4),
        ),
        (
            "roles",
            "roles_view=Faithful?&faithful_test=uniform attention&kind=decoder",
            uniform,
            ("decoder",),
        ),
        (
            "roles",
            f"roles_view=Remove heads&kind={CROSS}&{last_layer}&head=8&removed={link(translator)}",
            taken_away,
            (),
        ),
        (
            "roles",
            f"{why_word}&kind={CROSS}&{last_layer}&head=1",
            why,
            (CROSS, N - 1, 0),
        ),
        (
            "roles",
            f"{why_word}&kind=encoder&{last_layer}&head=3&written=2&why_heads=direct logits",
            why,
            ("encoder", N - 1, 2, 1, True),
        ),
        ("roles", "roles_view=Layer by layer", layers, ()),
        ("roles", "roles_view=Layer by layer&written=2", layers, (1,)),
        ("roles", "roles_view=Layer by layer&encoder_layers=true", from_encoder_layers, ()),
        ("masks", "kind=encoder", grids, ("encoder",)),
        ("masks", "kind=decoder&mask-row=3", grids, ("decoder", 2)),
        ("masks", f"kind={CROSS}&mask-sentence=3", grids, (CROSS, 2, 2)),
        *(("masks", f"kind={kind}&{away}", removed, (kind,)) for kind in KINDS),
        ("positions", "pe_view=Your sentence", foot, ()),
        ("positions", "pe_view=Shift positions&pe_moved=64", beyond, ()),
        ("positions", "pe_view=Remove positions&pe_seed=3", without, ()),
        ("architecture", "", drawing, ()),
        *(
            ("architecture", f"arch_box={title}", drawing, (box,))
            for title, box in (
                ("Cross-attention of the decoder", "decoder.cross_attention"),
                ("Feed forward of the decoder", "decoder.feed_forward"),
                ("Softmax", "decoder.softmax"),
            )
        ),
        ("architecture", "arch_view=computation and memory", work, ()),
        ("architecture", "arch_view=norms", norms, ()),
    )
    return tuple(
        (page, dict(parse_qsl(query)), lambda facts, check=check, rest=rest: check(facts, *rest))
        for page, query, check, rest in rows
    )
