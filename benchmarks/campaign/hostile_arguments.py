"""Hostile arguments of every command: each value of each option beside valid ones, mixtures."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.campaign.small_model import SENTENCE

NUMBERS = (
    *("0", "-1", "1.5", "nan", "inf", "-inf", "1e308", "1e999", "", " ", "x", "²", "0x10", "1_0"),
    *("9" * 30, "9" * 5_000, "-" + "9" * 5_000, "65", "1000000001", "\udcff", "--", "x" * 10_000),
)
PATHS = (
    *(
        "missing",
        "no/such/folder",
        "folder",
        "pipe",
        "/dev/zero",
        "/dev/null",
        "binary",
        "text",
        "",
    ),
    *(
        "text/below",
        "x" * 300,
        "x" * 5_000,
        "\udcff\udcfe",
        "a\nb",
        "\x1b[31m",
        "loop",
        "12gb",
        ".",
    ),
    *("~nosuchuser", "-", "/proc/self/mem", "/", "nul-filled"),
)
ADDRESSES = (
    *(
        "http://",
        "https://[::1",
        "http://exa mple",
        "http://host:99999",
        "http://host:abc",
        "ftp://x",
    ),
    *(
        "http://" + "a" * 300,
        "http://..",
        "http://a..b",
        "http://user:pw@",
        "http://\udcff",
        "http://[zz]",
    ),
    *(
        "https://ex\nample",
        "http://%00",
        "http://host#x",
        "http://host?x",
        "http://*",
        "file:///etc",
        "",
    ),
    *(
        "HTTP://x",
        "http:///path",
        "http://\u2028",
        "http://xn--\udcff.de",
        "http://127.0.0.1:1",
        "x" * 9_000,
    ),
)
TEXTS = ("", " ", "\udcff", "x" * 9_000, "ein " * 2_000, "<script>", "</s>", "\u202e", "😀")
_TEXT = ("--checkpoint", "model", "--src", "data/valid.en")
_VALID: dict[str, list[str]] = {
    "translate": [SENTENCE, "--checkpoint", "model", "--beam", "1"],
    "report": [SENTENCE, "-o", "out.html", "--checkpoint", "model", "--beam", "1"],
    "export": ["ctranslate2", "--checkpoint", "model", "--out", "out"],
    "prepare": ["--config", "run.toml", "--data", "data", "--out", "out"],
    "train": ["--config", "run.toml", "--data", "data", "--out", "out"],
    "average": ["run", "--out", "out"],
    "card": ["run", "--out", "card.md"],
    "evaluate bleu": [*_TEXT, "--ref", "data/valid.de", "--beam", "1"],
    "evaluate aer": [*_TEXT, "--tgt", "data/valid.de", "--gold", "gold"],
    "evaluate heads": [*_TEXT, "--ref", "data/valid.de", "--out", "out.json"],
    "evaluate faithfulness": [*_TEXT, "--out", "out.json"],
    "download": ["tatoeba", "--out", "out", "--mirror", "http://127.0.0.1:1"],
    "app": [],
}  # fmt: skip
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "translate": {
        "--beam": NUMBERS, "--checkpoint": PATHS, "--alpha": NUMBERS, "--n-best": NUMBERS,
        "--max-length": NUMBERS, "--threads": NUMBERS, "--engine": NUMBERS[-3:],
        "--prefix": TEXTS, "--forbid": TEXTS, "--target": TEXTS,
    },
    "export": {"--checkpoint": PATHS, "--out": PATHS, "--quantization": NUMBERS[-3:]},
    "report": {
        "-o": PATHS, "--checkpoint": PATHS, "--beam": NUMBERS, "--layer": NUMBERS,
        "--head": NUMBERS, "--kind": NUMBERS[-3:], "--theme": NUMBERS[-3:],
        "--target": TEXTS,
        "--title": ("", "</title><script>alert(1)</script>", "\udcff", "x" * 9_000, "\x1b[31m"),
    },
    "train": {
        "--config": PATHS, "--data": PATHS, "--out": (*PATHS, "run"), "--start-from": PATHS,
        "--steps": NUMBERS, "--resume": ("",),
    },
    "prepare": {
        "--config": PATHS, "--data": PATHS, "--out": (*PATHS, "run"), "--tokenizer": PATHS,
        "--sample-lines": NUMBERS, "--longest-words": NUMBERS, "--ratio": NUMBERS,
    },
    "average": {"--last": NUMBERS, "--out": PATHS, "--card": PATHS},
    "card": {
        "--out": PATHS, "--evaluation": PATHS, "--examples": PATHS, "--before": PATHS,
        "--notes": PATHS,
    },
    "evaluate bleu": {
        "--checkpoint": PATHS, "--src": PATHS, "--ref": PATHS, "--beam": NUMBERS,
        "--alpha": NUMBERS,
    },
    "evaluate aer": {"--tgt": PATHS, "--gold": PATHS, "--write": TEXTS},
    "evaluate heads": {
        "--ref": PATHS, "--out": PATHS, "--sentences": NUMBERS, "--seed": NUMBERS,
        "--bleu-sentences": NUMBERS, "--examples": PATHS,
    },
    "evaluate faithfulness": {"--ref": PATHS, "--out": PATHS, "--sentences": NUMBERS},
    "download": {"--out": (*PATHS, "binary-sums"), "--mirror": ADDRESSES},
    "app": {"--port": NUMBERS},
}  # fmt: skip


def every() -> Iterator[list[str]]:
    """Every option with every hostile value, beside valid ones."""
    for command, options in _OPTIONS.items():
        valid = [*command.split(), *_VALID[command]]
        yield valid
        yield command.split()
        for option, values in options.items():
            for value in values:
                yield [*valid, option, value]
                yield [*valid, f"{option}={value}"]
    for run_ in ("binary-log", *PATHS):
        yield ["average", run_, "--out", "out"]
        yield ["card", run_, "--out", "card.md"]
    for text in ("", " ", "\udcff", "x" * 9_000, "dog " * 9_000, "😀", "<s>", "--", "-x"):
        yield ["translate", text, *_VALID["translate"][1:]]
        yield ["report", text, *_VALID["report"][1:]]
    for name in NUMBERS:
        yield [name]
        yield ["download", name, "--out", "out"]
        yield ["evaluate", name]


def mixture(chosen: random.Random, tried: list[list[str]]) -> list[str]:
    """Arguments of two of them together."""
    one, other = chosen.choice(tried), chosen.choice(tried)
    return [*one, *other[-2:]]
