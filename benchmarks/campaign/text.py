"""Hostile text, through the library and through standard input."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.campaign import judged
from benchmarks.campaign.judged import Judged
from benchmarks.campaign.outcome import Outcome
from benchmarks.campaign.small_model import SENTENCE, save_small_model
from benchmarks.campaign.worker import Worker
from transformer import HeadlightError, Translator
from transformer.__main__ import main

ENTRANCE = "text"
LINES = 40
"""Of standard input in one call; every fourth is a sentence whose translation is known."""

PIECES = (
    *(
        "<s>",
        "</s>",
        "<pad>",
        "<unk>",
        "▁",
        "<0x0A>",
        "\ufeff",
        "\u200b",
        "\u200d",
        "\u202e",
        "\u2066",
    ),
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</textarea>",
        "{{7*7}}",
        "${x}",
    ),
    *("%s%n", "{0}", "'; DROP TABLE x; --", "../../etc/passwd", "$(id)", "`id`", "\\u0000", "&lt;"),
    *("\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\r"),
    *("\ud800", "\udcff", "\udfff", "\ufffe", "\uffff", "\U0010ffff", "\U000e0001", "\u0300" * 30),
    *("e\u0301", "ﬁ", "㎏", "①", "Å", "\u1e9e", "ſ", "İ", "ß", "ǅ", "𝔉", "ｆｕｌｌ", "½", "\u00ad"),
    *("👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "😀", "שלום", "مرحبا", "नमस्ते", "你好", "한국어", "ไทย", "Ж", "ἀ"),
    *("The dog", "waits", "in the garden", ".", "!", "?", ",", "’", "“", "—", "1.5", "-", "ÄÖÜ"),
    *(" ", "\t", "\u00a0", "\u2003", "\u3000", "  "),
)
WHOLE = (
    *(
        "",
        " ",
        "\t \t",
        "\u3000",
        "\x00",
        ".",
        "a",
        "A" * 600,
        "x" * 5_000,
        "dog " * 2_000,
        "\u0300",
    ),
    *(
        "😀" * 300,
        "字" * 3_000,
        " " * 9_000,
        "a" * 200_000,
        "\ud83d",
        "\u202e" * 99,
        "▁" * 500,
        "<s>" * 90,
    ),
)


def run(count: int, seed: int) -> Iterator[Outcome]:
    """Half of them one by one through the library, half as lines of standard input."""
    chosen = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        save_small_model(Path(folder) / "model")
        with Worker(_try_text) as worker:
            for number in range(count // 2):
                text = WHOLE[number] if number < len(WHOLE) else _made(chosen)
                reply = worker.call((folder, text))
                yield judged.outcome(ENTRANCE, _name("library", text), reply)
        with Worker(_try_lines) as worker:
            left = count - count // 2
            while left > 0:
                lines = [_line(chosen) for _ in range(min(left, LINES))]
                left -= len(lines)
                reply = worker.call((folder, lines))
                found = reply.value or [("bad", reply.failure)] * len(lines)
                for line, (verdict, why) in zip(lines, found, strict=True):
                    yield Outcome(
                        ENTRANCE,
                        _name("standard input", line.decode("utf-8", "replace")),
                        verdict,
                        why,
                        reply.seconds / len(lines),
                        reply.megabytes,
                    )


def _made(chosen: random.Random) -> str:
    parts = []
    for _ in range(chosen.choice((1, 2, 5, 12, 30))):
        if chosen.random() < 0.3:  # any code point at all, surrogates too
            parts.append(
                "".join(chr(chosen.randrange(0x110000)) for _ in range(chosen.randint(1, 8)))
            )
        else:
            parts.append(chosen.choice(PIECES))
    return chosen.choice(("", " ")).join(parts)


def _line(chosen: random.Random) -> bytes:
    """A line of bytes, most of them UTF-8, without a line feed."""
    if chosen.random() < 0.03:
        text = chosen.choice(WHOLE)
    else:
        text = _made(chosen)
    line = text.encode("utf-8", errors="surrogatepass")
    if chosen.random() < 0.1:
        line += bytes(chosen.randrange(256) for _ in range(chosen.randint(1, 20)))
    return line.replace(b"\n", b" ")


def _name(way: str, text: str) -> str:
    short = text if len(text) <= 40 else f"{text[:20]}…{text[-20:]}"
    return f"{way}: {short!a}"


@cache
def _translator(folder: str) -> Translator:
    return Translator.load(Path(folder) / "model")


def _try_text(argument: tuple[str, str]) -> Judged:
    """Translate and trace one text; what is accepted must hold together."""
    folder, text = argument
    translator = _translator(folder)
    try:
        translation = translator.translate(text, beam_size=2)
        trace = translator.trace_of(translation)
    except HeadlightError as error:
        return judged.refused(str(error))
    if translation.source != text:
        return "bad", "the source is not what was typed"
    for notice in translation.notices:
        if "\n" in notice or len(notice) > 2_000:
            return "bad", f"a notice of {len(notice)} characters, or of two lines"
    for kind in ("encoder_self", "decoder_self", "cross"):
        weights, labels = trace.weights(kind), trace.labels(kind)
        if weights.shape[2:] != (len(labels.queries), len(labels.keys)):
            return "bad", f"{kind} has labels for another shape than {weights.shape}"
        if abs(weights.sum(-1) - 1).max() > 1e-3:
            return "bad", f"rows of {kind} do not sum to 1"
    return "accepted", ""


def _try_lines(argument: tuple[str, list[bytes]]) -> list[Judged]:
    """Translate lines as standard input; known sentences among them show that nothing moved."""
    folder, lines = argument
    known = _translator(folder).translate(SENTENCE, beam_size=1).text
    mixed: list[bytes] = []
    for line in lines:
        mixed += [line, SENTENCE.encode()]
    status, out, err = run_main(
        main,
        ["--checkpoint", str(Path(folder) / "model"), "--beam", "1"],
        b"\n".join(mixed) + b"\n",
    )
    written = out.split("\n")[:-1]
    refused = [said for said in err.splitlines() if said.startswith("transformer: ")]
    numbers = {int(said.split()[2].rstrip(":").replace(",", "")) for said in refused}
    if len(written) != len(mixed):
        return [("bad", f"{len(mixed)} lines became {len(written)}")] * len(lines)
    if status != (2 if numbers else 0):
        return [("bad", f"exit status {status} with {len(numbers)} bad lines")] * len(lines)
    results: list[Judged] = []
    for number in range(len(lines)):
        if written[2 * number + 1] != known:
            results.append(("bad", "the line after it has another translation"))
        elif 2 * number + 1 in numbers:
            empty = written[2 * number] == ""
            results.append(("refused", "") if empty else ("bad", "refused, but not empty"))
        else:
            results.append(("accepted", ""))
    return results


def run_main(main: Any, arguments: list[str], stdin: bytes = b"") -> tuple[object, str, str]:
    """Call a command as the shell would: exit status, standard output, standard error."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="")
    err, before = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status: object = main(arguments)
            except SystemExit as left:  # as argparse does
                status = left.code
    finally:
        sys.stdin = before
    out.flush()
    written = out.buffer.getvalue()
    return status, written.decode("utf-8", errors="surrogateescape"), err.getvalue()
