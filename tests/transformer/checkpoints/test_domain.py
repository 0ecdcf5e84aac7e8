"""A translation of what the model does not know says so; one of what it knows does not."""

import os
import re
from pathlib import Path

import pytest

from transformer import CheckpointError, Translator, decoding, hooks
from transformer.checkpoints import domain
from transformer.config import EOS

UNKNOWN = "Quarterly tariff derivatives hedge volatility."


def unsure(translator: Translator, text: str) -> bool:
    return any("unsure" in notice for notice in translator.translate(text).notices)


def test_the_notice_tells_what_was_measured_and_what_the_model_is_for(bundled) -> None:
    translation = bundled.translate(UNKNOWN)
    (notice,) = translation.notices
    per_piece = translation.log_prob / (len(translation.best.pieces) - 1)  # `</s>` is the last
    least = bundled.domain.least_log_prob
    assert (
        f"log probability is −{-per_piece:.2f} per subword, usually above −{-least:.2f}" in notice
    )
    assert f"made for {bundled.domain.made_for}. " in notice


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Twas brillig and the slithy toves.", ["brillig", "slithy"]),
        ("asdfgh", ["asdfgh"]),
        ("qwxz " * 5, ["qwxz"] * domain.MOST_CUT),
        ("brillig" * 7, ["brilligbrilligbrilli…rilligbrilligbrillig"]),
        ("Cat", []),  # two pieces say nothing: many words that the model knows have two
    ],
)
def test_a_notice_names_the_words_that_the_model_reads_in_parts(bundled, text, named) -> None:
    (notice,) = (notice for notice in bundled.translate(text).notices if "unsure" in notice)
    parts = notice.partition(bundled.domain.made_for)[2]
    assert re.findall("“\u2068(.*?)\u2069”", parts) == named
    if "slithy" in named:
        assert "br·ill·ig" in parts


def test_what_the_reader_forced_or_forbade_is_no_doubt_of_the_model(bundled) -> None:
    text = "Two black dogs are running through the snow."
    forced = bundled.translate(text, prefix="Eine Katze")
    assert forced.log_prob / len(forced.best.pieces) < -3  # for the prefix
    assert forced.notices == ()
    limit = domain.Domain("x", -0.5)
    hypothesis = decoding.Hypothesis((5, 6, EOS), (-9.0, -0.75, -0.27), 0.0)
    assert "follows the forced prefix: log probability is −1.02" in (
        limit.notice(hypothesis, forced=1) or ""
    )
    assert limit.notice(hypothesis, forced=2) is None
    assert limit.notice(hypothesis, forced=3) is None  # nothing is the model's own
    (notice,) = bundled.translate(text, forbidden=["Hunde", "Schnee"]).notices
    assert "unsure of this translation, with “Hunde”, “Schnee” forbidden: log probability" in notice


def test_a_certain_end_does_not_make_a_short_translation_sure() -> None:
    limit = domain.Domain("x", -0.5)
    ended = decoding.Hypothesis((5, 6, EOS), (-0.5, -0.6, -0.1), 0.0)
    assert "log probability is −0.60 per subword" in (limit.notice(ended) or "")  # 1.2 / 2
    assert limit.notice(decoding.Hypothesis((5, 6, 7), (-0.5, -0.6, -0.1), 0.0)) is None
    long = decoding.Hypothesis((*[5] * 20, EOS), (*[-0.48] * 20, -0.1), 0.0)
    assert limit.notice(long) is None


def test_of_a_changed_model_it_does_not_say_that_the_text_is_why(bundled) -> None:
    text = "Two black dogs are running through the snow."
    assert not unsure(bundled, text)
    points = [f"decoder.layers.{layer}.cross_attention.hook_z" for layer in range(6)]
    edits = [
        dict.fromkeys(points, hooks.Silence(tuple(range(8)))),
        {"encoder.embedding.hook_positions": lambda positions, _name: positions * 0},
    ]
    for edit in edits:
        with bundled.model.hooks(edit):
            notices = bundled.translate(text).notices
        assert [bundled.domain.made_for in notice for notice in notices] == [False]
        assert unsure(bundled, UNKNOWN)  # alone, the text is why


def test_a_model_without_a_domain_has_no_such_notice(checkpoint_folder, tmp_path) -> None:
    os.mkfifo(tmp_path / domain.FILE)
    assert domain.read(tmp_path) is domain.read(checkpoint_folder) is None
    assert not unsure(Translator.load(checkpoint_folder), "Zwei Hunde rennen.")


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b'{"made_for": "x", "least_log_prob": 1e999}',
        b'{"made_for": "' + b"x" * 5_000 + b'", "least_log_prob": -1}',
    ],
)
def test_a_damaged_domain_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / domain.FILE).write_bytes(content)
    with pytest.raises(CheckpointError, match=r"domain\.json .*\.$") as caught:
        domain.read(tmp_path)
    assert len(str(caught.value)) < 600 + len(str(tmp_path))
