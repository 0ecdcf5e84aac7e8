"""Dictionaries over lines: links, hits and chance against loops; the planted head stands alone."""

import numpy as np
import pytest

from tests.transformer.analysis.lens_cases import Case
from tests.transformer.circuits.planted_circuits import DICTIONARY, planted_model
from transformer import InputError, Translator
from transformer.analysis.alignment import align
from transformer.analysis.alignment_settings import read_alignment
from transformer.analysis.heads.head import Head, all_heads
from transformer.circuits.dictionary import (
    compare_with_chance,
    dictionaries_table,
    entries_table,
    mean_memories,
    measure_dictionaries,
    read_dictionary,
)
from transformer.circuits.writing import (
    copying_score,
    copying_scores,
)
from transformer.corpus.measuring import measure_lines, trace_of

TEXTS = [
    "The old cat sleeps under the table.",
    "The dog sleeps in the garden.",
    "Her horse waits.",
    "The baker sings in the garden.",
]


def test_the_planted_head_alone_exceeds_chance() -> None:
    model = planted_model()
    heads = [head for head in all_heads(model.config) if head.kind == "cross"]
    memories = mean_memories(model, [list(DICTIONARY), list(DICTIONARY)[::-1]])
    first = np.stack([read_dictionary(model, head, memories)[0][:, 0] for head in heads])
    hits, chance, p = compare_with_chance(first, [[DICTIONARY[id_]] for id_ in memories], 37)
    planted = heads.index(Head("cross", 1, 1))
    assert hits[planted].all()
    assert [n for n in range(len(heads)) if p[n] < 0.05] == [planted]
    assert chance[planted] == pytest.approx(1 / len(DICTIONARY), abs=0.02)


def test_entries_and_copying_scores_are_those_of_loops_in_float64(case: Case) -> None:
    model, plain = case.model, case.plain
    source = [piece.id for piece in case.trace.source_pieces]
    memories = mean_memories(model, [source, source])
    for head in all_heads(model.config):
        if head.kind != "cross":
            continue
        block = plain.attention["cross", head.layer]
        entries, raised = read_dictionary(model, head, memories, entries=3)
        for row, piece in enumerate(memories):
            at = [place for place, id_ in enumerate(source) if id_ == piece]
            written = block.v[head.head, at].mean(0) @ block.W_O[head.head]
            for norm in plain.norms[3 * head.layer + 1 :]:
                written = norm.gain * (written - written.mean())
            logits = plain.table @ written
            best = np.argsort(-logits)[:3]
            assert entries[row].tolist() == best.tolist()
            assert raised[row] == pytest.approx(logits[best] - logits.mean())
    for head, score in copying_scores(model).items():
        stack = "encoder" if head.kind == "encoder_self" else "decoder"
        name = f"{stack}.layers.{head.layer}.self_attention.W_V.weight"
        W_V = np.split(plain.weights[name], model.config.h)[head.head]
        table = plain.weights.get("source_embedding", plain.table)
        table = table if stack == "encoder" else plain.table
        W_O = plain.attention[head.kind, head.layer].W_O[head.head]
        values = np.linalg.eigvals(table @ W_V.T @ W_O @ table.T)  # [vocab, vocab]
        assert score == pytest.approx(values.real.sum() / np.abs(values).sum(), abs=1e-4)
        assert copying_score(model, head) == score


def test_hits_and_chance_are_those_of_loops_over_lines(translator: Translator) -> None:
    lines = measure_lines(translator, TEXTS, costs=False, sources=False)
    steps: list[tuple[int, int]] = []
    read = measure_dictionaries(translator, lines, lambda *step: steps.append(step))
    heads = translator.model.config.decoder.N * translator.model.config.decoder.h
    assert steps[-1] == (len(TEXTS) + heads, len(TEXTS) + heads)
    belongs: dict[int, set[int]] = {}
    for line in lines.pairs:
        trace = trace_of(translator, line)
        for link in align(translator, trace, read_alignment(translator)):
            targets = {p.id for p in trace.target_pieces[:-1] if p.word == link.target}
            for piece in trace.source_pieces[:-1]:
                if piece.word == link.source:
                    belongs.setdefault(piece.id, set()).update(targets)
    assert dict(zip(read.pieces, map(set, read.translations), strict=True)) == belongs
    everything = [id_ for line in lines.pairs for id_ in line.source_ids]
    assert list(read.places) == [everything.count(id_) for id_ in read.pieces]
    assert list(read.places) == sorted(read.places, reverse=True)
    table = dictionaries_table(read)
    for number, head in enumerate(read.heads):
        first = read.entries[number, :, 0].tolist()
        hits = [f in belongs[piece] for f, piece in zip(first, read.pieces, strict=True)]
        assert table["share"][number] == pytest.approx(np.mean(hits))
        chance = np.mean([[f in belongs[piece] for f in first] for piece in read.pieces])
        assert table["shuffled"][number] == pytest.approx(chance, abs=0.01)
        shown = entries_table(translator, read, head)
        assert shown["first is one"].tolist() == hits
        pieces = translator.target_tokenizer.pieces_of(first)
        assert [text.split()[0] for text in shown["writes"]] == [piece.text for piece in pieces]
    assert table["share"].max() > 0


def test_lines_without_links_are_refused(translator: Translator) -> None:
    lines = measure_lines(translator, ["A"], targets=["A"], costs=False, sources=False)
    with pytest.raises(InputError, match="fewer than two"):
        measure_dictionaries(translator, lines)
