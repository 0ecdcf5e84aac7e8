"""Translation and measurement of many lines: every head and every sentence, each pass once.

Lines of one length share a batch. What is held of a line are its numbers, not its weights.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from transformer import choices, config
from transformer.analysis import stored
from transformer.analysis.alignment import align, strongest, word_numbers, word_shares
from transformer.analysis.alignment_settings import AlignmentSettings, read_alignment
from transformer.analysis.axes import by_pieces
from transformer.analysis.gold_links import GoldLinks, Notation, alignment_error, read_links
from transformer.analysis.heads import importance
from transformer.analysis.heads.head import all_heads
from transformer.analysis.heads.measures import measure
from transformer.analysis.sinks import are_sinks
from transformer.analysis.source_share import HARDLY_USED, by_words, source_shares
from transformer.analysis.teacher_forcing import Progress, no_progress
from transformer.arrays import Floats, Singles
from transformer.corpus import corpus_roles, measured, passes
from transformer.errors import InputError
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer
from transformer.text.words import has_letter
from transformer.trace import AttentionTrace
from transformer.translator import Translator


def measure_lines(
    translator: Translator,
    lines: Sequence[str],
    *,
    targets: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
    gold: Sequence[str] | None = None,
    costs: bool = True,
    sources: bool = True,
    progress: Progress = no_progress,
) -> measured.MeasuredLines:
    """Measure all heads on lines and their translations: `targets`, or the model's own.

    Empty and unreadable lines are left out. `references` and the word links of `gold`, for given
    translations, are by people, a line each. `costs`, the gradient and the loss without each head,
    take most of the time; `sources` are the shares of the source. `progress` is told after each
    step, of less than a second.
    """
    for name, texts in (
        ("translations", targets),
        ("references", references),
        ("lines of links", gold),
    ):
        if texts is not None and len(texts) != len(lines):
            raise InputError(
                f"There are {len(lines):,} lines and {len(texts):,} {name}: give one for each line."
            )
    translator.model.require_no_dropout()
    heads = len(all_heads(translator.model.config)) if costs else 0
    times: dict[passes.Part, int] = {
        "translate": int(targets is None),
        "measure": 1,
        "costs": heads,
    }
    pairs, left_out = read_pairs(translator, lines, targets, references)
    step = passes.steps(progress, [len(pair.source_ids) for pair in pairs], times)
    if targets is None:
        decode = translator.target_tokenizer.decode
        for row, best in passes.best_translations(
            translator, [pair.source_ids for pair in pairs], step
        ):
            pairs[row] = pairs[row]._replace(target=decode(list(best)), target_ids=best)
    if not pairs:
        first = f" Line {left_out[0].number:,}: {left_out[0].reason}" if left_out else ""
        raise InputError(f"No line can be measured: give sentences, one a line.{first}")
    links = {} if gold is None else _links(pairs, gold)
    return measure_pairs(
        translator, pairs, left_out, gold=links, costs=costs, sources=sources, step=step
    )


def trace_lines(
    translator: Translator, lines: measured.MeasuredLines, rows: Sequence[int]
) -> list[AttentionTrace]:
    """Trace some of the lines with their translations."""
    return [trace_of(translator, lines.pairs[row]) for row in rows]


def read_pairs(
    translator: Translator,
    lines: Sequence[str],
    targets: Sequence[str] | None,
    references: Sequence[str] | None = None,
) -> tuple[list[measured.LinePair], list[measured.LeftOut]]:
    """Read lines with their translations, if there are any; what cannot be read is left out."""
    pairs: list[measured.LinePair] = []
    left_out: list[measured.LeftOut] = []
    for number, line in enumerate(lines, start=1):
        target = "" if targets is None else targets[number - 1]
        reference = "" if references is None else references[number - 1]
        try:
            pieces = translator.reader.text(line)
            written = [] if targets is None else translator.reader.text(target, "translation")
        except InputError as error:
            left_out.append(measured.LeftOut(number, str(error)))
        else:
            source_ids, ids = (tuple(piece.id for piece in side) for side in (pieces, written))
            pairs.append(measured.LinePair(number, line, target, source_ids, ids, reference))
    return pairs, left_out


def measure_pairs(
    translator: Translator,
    pairs: Sequence[measured.LinePair],
    left_out: Sequence[measured.LeftOut] = (),
    *,
    gold: Mapping[int, GoldLinks] = MappingProxyType({}),
    costs: bool = True,
    sources: bool = True,
    step: passes.Step = lambda _part, _lines: None,
) -> measured.MeasuredLines:
    """Measure all heads on lines whose translations are known; `gold` has the links of a line."""
    heads = tuple(all_heads(translator.model.config))
    absent = {measured.GRADIENT, measured.COST} if not costs else set()
    absent |= {measured.ALIGNMENT_ERROR} if not gold else set()
    names = [name for name in measured.HEAD_MEASURES if name not in absent]
    head_values = {n: np.full((len(pairs), len(heads)), np.nan, np.float32) for n in names}
    sentence_values = {name: np.full(len(pairs), np.nan) for name in measured.SENTENCE_MEASURES}
    rows = {kind: np.zeros(len(pairs)) for kind in KINDS}
    offsets = np.zeros((len(pairs), len(heads), 2 * corpus_roles.MAX_OFFSET + 1), np.int16)
    columns = {kind: [n for n, head in enumerate(heads) if head.kind == kind] for kind in KINDS}
    counts = piece_counts(translator, pairs)
    settings = read_alignment(translator)
    for row, pair in enumerate(pairs):
        trace = trace_of(translator, pair)
        measures = sentence_measures(translator, trace, settings, sources=sources, step=step)
        translator.require_finite(measures.values())
        for name, value in measures.items():
            sentence_values[name][row] = value
        for kind in KINDS:
            axes = by_pieces(trace, kind)
            by_role = corpus_roles.measure_sentence(axes, kind, key_counts(trace, kind, counts))
            diagonal = measure(axes, kind, measured.DIAGONAL)
            for name, values in {**by_role.values, measured.DIAGONAL: diagonal}.items():
                head_values[name][row, columns[kind]] = values.ravel()
            offsets[row, columns[kind]] = by_role.offset_counts.reshape(-1, offsets.shape[-1])
            rows[kind][row] = by_role.rows
        if gold:
            errors = alignment_errors(translator, trace, settings, gold[pair.number])
            head_values[measured.ALIGNMENT_ERROR][row, columns["cross"]] = errors
        step("measure", [len(pair.source_ids)])
    totals = offsets.sum(0, dtype=np.int64)  # [head, offset]
    best = np.take_along_axis(offsets, totals.argmax(-1)[None, :, None], -1)[..., 0]
    for kind in KINDS:
        at = columns[kind]
        head_values["positional"][:, at] = best[:, at] / rows[kind][:, None]
    if costs:
        _measure_costs(translator.model, pairs, head_values, step)
    return measured.MeasuredLines(
        checksum=stored.checksum_of_weights(translator.folder),
        pairs=tuple(pairs),
        left_out=tuple(left_out),
        heads=heads,
        rows=rows,
        head_values=head_values,
        sentence_values=sentence_values,
        offset_counts=totals,
    )


def trace_of(translator: Translator, pair: measured.LinePair) -> AttentionTrace:
    """Trace a line with the pieces of its translation."""
    source = translator.tokenizer.pieces_of(pair.source_ids)
    target = translator.target_tokenizer.pieces_of(pair.target_ids)
    return translator.trace_pieces(pair.source, pair.target, source, target)


def sentence_measures(
    translator: Translator,
    trace: AttentionTrace,
    settings: AlignmentSettings,
    *,
    sources: bool,
    step: passes.Step,
) -> dict[str, float]:
    """Compute the measures of a sentence that are defined, by the names of `SENTENCE_MEASURES`."""
    lettered, written = (
        {p.word for p in pieces if p.id != config.EOS and has_letter(p.text)}
        for pieces in (trace.source_pieces, trace.target_pieces)
    )
    sinks = are_sinks(trace.source_tokens, trace.special)
    values = {
        measured.LOG_P: float(trace.log_probs.mean()),
        measured.LEAST_CERTAIN: float(trace.log_probs.min()),
        measured.SUBWORDS: float(len(trace.target_pieces)),
        measured.ON_SINKS: float(trace.cross[..., sinks].sum(-1).mean()),
    }
    if written:
        linked = {pair.target for pair in align(translator, trace, settings)}
        values[measured.UNLINKED] = len(written - linked) / len(written)
    if not sources:
        return values
    tokens = source_shares(translator, trace, progress=lambda *_: step("measure", ()))
    shares = by_words(tokens, trace)
    used = shares.used[sorted(lettered)]
    values |= {
        measured.SOURCE_SHARE: float(shares.from_source.mean()),
        measured.LEAST_SHARE: float(shares.from_source.min()),
        measured.UNUSED: float((used <= HARDLY_USED).sum()),
    }
    return values | ({measured.LEAST_USED: float(used.min())} if used.size else {})


def alignment_errors(
    translator: Translator, trace: AttentionTrace, settings: AlignmentSettings, gold: GoldLinks
) -> Floats:
    """Compute the alignment error of every head of cross-attention on a sentence, `[head]`."""
    source, target = word_numbers(translator, trace, "typed")
    return np.array(
        [
            alignment_error(
                [
                    pair[:2]
                    for pair in strongest(
                        word_shares(weights, source, target, settings.row), settings.links
                    )
                ],
                gold,
            )
            for layer in trace.cross
            for weights in layer
        ]
    )


def _links(pairs: Sequence[measured.LinePair], gold: Sequence[str]) -> dict[int, GoldLinks]:
    links = {}
    for pair in pairs:
        words = [len(side.split()) for side in (pair.source, pair.target)]
        try:
            links[pair.number], _ = read_links(gold[pair.number - 1], words, Notation())
        except ValueError as error:
            raise InputError(f"Line {pair.number:,} of the links: {error}.") from error
    return links


def _measure_costs(
    model: Transformer,
    pairs: Sequence[measured.LinePair],
    values: Mapping[str, Singles],
    step: passes.Step,
) -> None:
    alone = [[head] for head in all_heads(model.config)]
    for rows, batch in passes.batches_of(model, pairs):
        values[measured.GRADIENT][rows] = importance.gradient_importance(model, *batch)
        whole = passes.losses_of(model, batch)
        pieces = np.array([len(pairs[row].target_ids) for row in rows])
        for number, losses in enumerate(importance.losses_without(model, *batch, alone)):
            values[measured.COST][rows, number] = (losses.double().cpu().numpy() - whole) / pieces
            step("costs", [len(pairs[row].source_ids) for row in rows])


def piece_counts(translator: Translator, pairs: Sequence[measured.LinePair]) -> Counter[str]:
    """Count each piece in the lines, both languages together."""
    counts: Counter[str] = Counter()
    for tokenizer, sides in (
        (translator.tokenizer, [pair.source_ids for pair in pairs]),
        (translator.target_tokenizer, [pair.target_ids for pair in pairs]),
    ):
        ids = Counter(token for side in sides for token in side)
        for piece in tokenizer.pieces_of(list(ids)):
            counts[piece.text] += ids[piece.id]
    return counts


@choices.check_choices
def key_counts(trace: AttentionTrace, kind: Kind, counts: Mapping[str, int]) -> list[int]:
    """Return how often the lines have the token of each column; `<s>` is not a word."""
    if kind == "decoder_self":
        return [0, *(counts[piece.text] for piece in trace.target_pieces[:-1])]
    return [counts[piece.text] for piece in trace.source_pieces]
