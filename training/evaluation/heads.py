"""headlight evaluate heads: what every head does on a corpus, and how much it matters."""

import argparse
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
import safetensors.torch
import torch
from torch import Tensor
from tqdm import tqdm

from training import validation
from training.bleu_tokens import tokens_of
from training.data.corpus import CorpusError, read_files, read_lines
from training.evaluation import measurement
from transformer import Translator, config, decoding, errors
from transformer.analysis import stored
from transformer.analysis.heads import means as means_file
from transformer.analysis.heads import removal
from transformer.analysis.heads.head import Head, all_heads
from transformer.arrays import Floats
from transformer.cli import arguments, command
from transformer.corpus import head_report, measured, measuring, resampling
from transformer.corpus.corpus_roles import measures_of
from transformer.corpus.passes import batches_of
from transformer.files import documents
from transformer.kinds import KINDS, Kind
from transformer.model import Transformer

SENTENCES, BLEU_SENTENCES = 600, 200
CURVE_POINTS = 18
ORDERS = ("gradient", "loss without")
"""The measures of importance by which the curves take heads away."""
EXAMPLES_OF_A_HEAD = 3


def add_arguments(commands: Any) -> None:
    """Register `headlight evaluate heads`."""
    parser = commands.add_parser(
        "heads",
        help="measure what every head does, and how important it is",
        parents=[measurement.corpus_options(SENTENCES)],
    )
    parser.set_defaults(run=run)
    add, count = parser.add_argument, arguments.whole_number(1)
    add(
        "--ref",
        type=Path,
        action=measurement.OneReference,
        required=True,
        help="reference translation, line by line",
    )
    some = f"number of sentences to translate for BLEU; default: {BLEU_SENTENCES}"
    add("--bleu-sentences", type=count, default=BLEU_SENTENCES, help=some)
    add("--examples", type=Path, help="example sentences; each head gets three")


def run(options: argparse.Namespace) -> None:
    """Measure, store and print."""
    translator = measurement.load_translator(options, head_report.FILE, means_file.FILE)
    text = read_files(options.src, options.ref)
    pairs, left_out = measuring.read_pairs(translator, text.source, text.target)
    if not pairs:
        raise CorpusError(f"{options.src} has no line that can be read: {left_out[0].reason}")
    if left_out:
        command.say(f"{len(left_out):,} pairs are empty or too long, and are left out.")
    pairs = measurement.draw_sample(pairs, options.sentences, options.seed)
    examples = measure_examples(translator, options.examples) if options.examples else None
    passes = 1 + len(all_heads(translator.model.config))
    with tqdm(total=len(pairs) * passes, desc="heads", disable=None) as bar:
        lines = measuring.measure_pairs(
            translator, pairs, sources=False, step=lambda _part, done: bar.update(len(done))
        )
    translated = measurement.draw_sample(pairs, options.bleu_sentences, options.seed)
    tokens, reason = tokens_of(measurement.target_language(translator.languages, text.source))
    if reason:
        command.say(reason)

    def statistics(heads: Sequence[Head]) -> Floats:
        return bleu_statistics(translator, translated, heads, tokens)

    report = _report(translator, lines, len(left_out), statistics, examples, options.seed)
    content = head_report.to_json(report)
    outputs = mean_outputs(translator.model, pairs)
    means: dict[str, torch.Tensor] = {kind: z.contiguous() for kind, z in outputs.items()}
    files = {
        head_report.FILE: content.encode(),
        means_file.FILE: safetensors.torch.save(means),
    }
    measurement.store_or_write(translator.folder, options.out, files)
    print(content.strip() if options.json else as_text(report))


@torch.inference_mode()
def mean_outputs(model: Transformer, pairs: Sequence[measured.LinePair]) -> dict[Kind, Tensor]:
    """Average the output z of every head over all positions, `[layer, head, d_v]`."""
    points = {kind: model.attention_points(kind, "z") for kind in KINDS}
    sums: dict[Kind, Tensor] = dict.fromkeys(KINDS, torch.zeros(()))
    positions = dict.fromkeys(KINDS, 0)
    for _, batch in batches_of(model, pairs):
        _, cache = model.run_with_cache(
            batch.source, batch.target, names=lambda name: name.endswith("hook_z")
        )
        for kind, names in points.items():
            real = (batch.source if kind == "encoder_self" else batch.written) != config.PAD
            z = torch.stack([cache[name] for name in names]).double()  # [layer, batch, head, q, v]
            sums[kind] = sums[kind] + torch.einsum("lbhqv,bq->lhv", z, real.double()).cpu()
            positions[kind] += int(real.sum())
    return {kind: (sums[kind] / positions[kind]).float() for kind in KINDS}


def bleu_statistics(
    translator: Translator, pairs: Sequence[measured.LinePair], heads: Sequence[Head], tokenize: str
) -> Floats:
    """Compute BLEU statistics of greedy translations without some heads (Papineni 2002).

    `[sentence, 10]`: matches of one to four tokens, n-grams of each length, and both lengths.
    """
    model = translator.model
    with removal.removed(model, [removal.Removal(*place) for place in heads]):
        translations = validation.translate_all(
            [pair.source_ids[:-1] for pair in pairs],
            lambda batch: decoding.greedy(model, batch),
            translator.target_tokenizer,
            model.device,
        )
    metric = sacrebleu.BLEU(tokenize=tokenize, effective_order=True)
    scores = [
        metric.sentence_score(translation, [pair.target])
        for translation, pair in zip(translations, pairs, strict=True)
    ]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=float)


def bleu(statistics: Floats) -> Floats:
    """Compute corpus BLEU, 0 to 100, as sacreBLEU smooths it, from sums of statistics."""
    scores = [
        sacrebleu.BLEU.compute_bleu(
            [*row[:4]], [*row[4:8]], row[8], row[9], smooth_method="exp"
        ).score
        for row in statistics.reshape(-1, 10).astype(int).tolist()
    ]
    return np.reshape(scores, statistics.shape[:-1])


def _report(
    translator: Translator,
    lines: measured.MeasuredLines,
    left_out: int,
    statistics: Callable[[Sequence[Head]], Floats],
    examples: measured.MeasuredLines | None,
    seed: int,
) -> head_report.HeadReport:
    weights = resampling.resampled_weights(len(lines), seed)
    heads = lines.heads
    means = measured.head_means(lines, seed)
    intervals = {**means.values, measured.GRADIENT: _normalised_gradients(lines, weights)}
    figures: dict[Head, dict[str, stored.Figure]] = {
        place: {
            name: _figures(intervals[name], (column,))
            for name in (*measures_of(place.kind), measured.GRADIENT, measured.COST)
        }
        for column, place in enumerate(heads)
    }
    offsets = dict(zip(heads, lines.offsets.tolist(), strict=True))
    whole = statistics([])
    drawn = resampling.resampled_weights(len(whole), seed)
    full = _bleu(whole, drawn)
    for place in tqdm(heads, "BLEU without", unit="head", disable=None):
        figures[place]["BLEU without"] = _bleu(statistics([place]), drawn, baseline=whole)
    roles = dict(zip(heads, means.roles, strict=True))
    curves = {}
    for order in ORDERS:
        ranked = sorted(heads, key=lambda place: figures[place][order].value)
        curves[order] = _curve(ranked, statistics, drawn)
    return head_report.HeadReport(
        weights=stored.checksum_of_weights(translator.folder),
        sentences=len(lines),
        left_out=left_out,
        bleu_sentences=len(whole),
        loss=_figures(
            resampling.mean_interval(
                -lines.sentence_values[measured.LOG_P], weights, lines.subwords
            )
        ),
        bleu=full,
        heads=tuple(
            head_report.HeadFigures(
                place,
                roles[place],
                offsets[place],
                figures[place],
                best_examples(examples, place, roles[place]) if examples else (),
            )
            for place in heads
        ),
        curves=curves,
    )


def _normalised_gradients(lines: measured.MeasuredLines, weights: Floats) -> resampling.Interval:
    """Average the gradients over the sentences, each layer over its l2 norm, `[head]` (Michel)."""
    gradients = lines.head_values[measured.GRADIENT].astype(np.float64)  # [sentence, head]
    means = np.concatenate([gradients.mean(0)[None], weights @ gradients / len(lines)])
    for _, group in groupby(range(len(lines.heads)), lambda column: lines.heads[column][:2]):
        columns = list(group)  # of one layer
        norm = np.linalg.norm(means[:, columns], axis=1, keepdims=True)
        means[:, columns] /= np.where(norm > 0, norm, 1)
    return resampling.interval(means[0], means[1:])


def _figures(interval: resampling.Interval, at: tuple[int, ...] = ()) -> stored.Figure:
    return stored.Figure(*(float(values[at]) for values in interval))


def _bleu(statistics: Floats, drawn: Floats, baseline: Floats | None = None) -> stored.Figure:
    """Compute BLEU, or its difference from that of `baseline`, with an interval."""
    value, resampled = bleu(statistics.sum(0)), bleu(drawn @ statistics)
    if baseline is not None:
        value, resampled = value - bleu(baseline.sum(0)), resampled - bleu(drawn @ baseline)
    return _figures(resampling.interval(value, resampled))


def _curve(
    order: Sequence[Head], statistics: Callable[[Sequence[Head]], Floats], drawn: Floats
) -> head_report.Curve:
    """Compute BLEU without the first n heads of an order, for about `CURVE_POINTS` values of n."""
    counts = np.unique(np.linspace(0, len(order), CURVE_POINTS + 1).round().astype(int)).tolist()
    points = [
        head_report.CurvePoint(count, _bleu(statistics(order[:count]), drawn))
        for count in tqdm(counts, "curve", unit="point", disable=None)
    ]
    return head_report.Curve(tuple(order), tuple(points))


def as_text(report: head_report.HeadReport) -> str:
    """Return a table, costliest head first, and points of the removal curves."""
    lines = [
        f"{report.sentences:,} sentences, {report.left_out:,} left out; loss "
        f"{report.loss.value:.3f} for each piece, BLEU {report.bleu.value:.2f} "
        f"({report.bleu.low:.2f} to {report.bleu.high:.2f}) greedy on {report.bleu_sentences:,}",
        "kind          layer head  role          confidence  entropy  gradient  loss without"
        "              BLEU without",
    ]
    for head in sorted(report.heads, key=lambda head: -head.measures["loss without"].value):
        place, values = head.place, head.measures
        loss, change = values["loss without"], values["BLEU without"]
        lines.append(
            f"{place.kind:13} {place.layer:5} {place.head:4}  {head.role or '–':12}  "
            f"{values['confidence'].value:10.2f}  {values['entropy'].value:7.2f}  "
            f"{values['gradient'].value:8.3f}  "
            f"{loss.value:+.3f} ({loss.low:+.3f} to {loss.high:+.3f})  "
            f"{change.value:+6.2f} ({change.low:+.2f} to {change.high:+.2f})"
        )
    for name, curve in report.curves.items():
        shown = ", ".join(f"{p.removed}: {p.bleu.value:.2f}" for p in curve.points)
        lines.append(f"BLEU by heads taken away, least important by {name} first: {shown}")
    return "\n".join(lines)


def measure_examples(translator: Translator, path: Path) -> measured.MeasuredLines:
    """Measure the model's own translations of the example sentences."""
    sentences = [line for line in read_lines(path) if line.strip()]
    if not sentences:
        raise CorpusError(f"{path} has no sentence: give one a line, or leave --examples out.")
    for number, reason in measuring.read_pairs(translator, sentences, None)[1]:
        raise errors.InputError(f"{path} sentence {number:,}: {reason}")
    lines = measuring.measure_lines(translator, sentences, costs=False, sources=False)
    for pair in lines.pairs:
        for name, text in (("sentence", pair.source), ("translation", pair.target)):
            if len(text) > documents.MAX_CHARACTERS:
                raise errors.InputError(
                    f"{path} sentence {pair.number:,}: The {name} has {len(text):,} characters, "
                    f"but a report holds at most {documents.MAX_CHARACTERS:,} of a text: leave it "
                    f"out."
                )
    return lines


def best_examples(
    lines: measured.MeasuredLines, place: Head, role: str
) -> tuple[head_report.Example, ...]:
    """Choose the sentences on which the measure of a head's role is largest."""
    scores = lines.values_of(place, role or "confidence")
    return tuple(
        head_report.Example(lines.pairs[row].source, lines.pairs[row].target, float(scores[row]))
        for row in np.argsort(-scores, kind="stable")[:EXAMPLES_OF_A_HEAD]
    )
