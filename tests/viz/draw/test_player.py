"""The player: what the browser says and draws at each step is the trace's and the search's own."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Pair
from tests.made_trace import made_trace
from tests.viz.draw.message import decode
from transformer import KINDS, AttentionTrace, InputError, Translator
from transformer.analysis.alignment import WordPair
from transformer.analysis.heads.head import Head
from transformer.text.languages import OURS
from transformer.text.tokenizer import Piece
from transformer.translation.score import Choice, Scored
from viz.draw.labels import browser_tokens
from viz.draw.player import (
    TrainingStep,
    encode_learning,
    encode_player,
    head_of,
)
from viz.draw.trace_message import LARGEST, WINDOW, SearchStep, about, encode_for_players
from viz.draw.watched import OPTIONS, options_of, watched_heads
from viz.draw.wire import encode

NAMED = {
    "<s>": "start, the mark before the first word",
    "</s>": "end, the mark after the last word",
}
STATES = Path(__file__).parents[2] / "js" / "player_states.mjs"
ASSETS = Path(__file__).parents[3] / "assets"
SENTENCES = (ASSETS / "examples.txt").read_text("utf-8").splitlines()[:2]


BESIDE = about(OURS, "a model")


def drawn(trace: AttentionTrace, steps: Sequence[SearchStep]) -> bytes:
    """Encode a player, and the trace that it names."""
    key, carried = encode_for_players(trace, steps)
    player = encode_player(key, BESIDE, selected=watched_heads(trace, ()))
    return encode({"trace": carried, "player": player})


def states(folder: Path, messages: list[bytes]) -> list:
    node = shutil.which("node")
    assert node, "the player's own code says what it shows"
    files = []
    for number, message in enumerate(messages):
        files.append(folder / f"{number}")
        files[-1].write_bytes(message)
    command = [node, "--import", STATES.with_name("typescript.mjs").as_uri(), str(STATES)]
    run = subprocess.run([*command, *map(str, files)], capture_output=True, check=True)
    return json.loads(run.stdout)


def shown(translator: Translator, text: str, beam_size: int = 1) -> tuple[AttentionTrace, Scored]:
    translation = translator.translate(text, beam_size=beam_size)
    trace = translator.trace_of(translation)
    score = translator.score(text, [p.text for p in trace.target_pieces], alternatives=OPTIONS - 1)
    return trace, score


@pytest.mark.slow
def test_every_number_is_that_of_the_trace_and_of_the_search(
    translator: Translator, tmp_path: Path
) -> None:
    traces, scores, messages = [], [], []
    for text in SENTENCES:
        trace, score = shown(translator, text)
        steps = [SearchStep(*options_of(*part)) for part in zip(
            score.pieces, score.log_probs, score.alternatives, strict=True
        )]  # fmt: skip
        messages.append(drawn(trace, steps))
        traces.append(trace)
        scores.append(score)
    players = states(tmp_path, messages)
    assert len(players) == len(SENTENCES)
    for trace, score, kinds in zip(traces, scores, players, strict=True):
        assert [player["kind"] for player in kinds] == [*trace.kinds]
        source = browser_tokens(trace.source_tokens)
        read = browser_tokens([*trace.decoder_tokens[:1], *trace.target_tokens])
        for player in kinds:
            weights = trace.weights(player["kind"])[player["layer"], player["head"]]
            keys = read if player["kind"] == "decoder_self" else source
            assert len(player["steps"]) == min(len(weights), WINDOW)
            for row, step in zip(weights[:WINDOW, :WINDOW], player["steps"], strict=True):
                assert np.abs(np.array(step["row"]) - row).max() <= 0.5 / LARGEST + 1e-7
                looked = int(np.array(step["row"]).argmax())
                if 1 - row.sum() > row.max() + 1e-3:
                    assert "“" not in step["says"].partition("looks at")[2]
                    continue
                head = f"{player['name']} L{player['layer'] + 1} H{player['head'] + 1}"
                assert f"{head} looks at " in step["says"]
                token = keys[looked]
                named = NAMED.get(token, f"“{token}”").replace("·", "")
                doing, _, looks = step["says"].replace("·", "").partition(" looks at ")
                if token in NAMED and named in doing:  # it was explained
                    named = f"“{named.partition(',')[0]}”"
                assert looks.startswith(f"{named} (")
                percent = step["says"].rpartition("(")[2].split(" ")[0]
                if percent.isdigit():
                    assert abs(int(percent) - 100 * row[looked]) <= 0.51
                else:
                    assert min(row[looked], 1 - row[looked]) < 0.01 + 1e-4
        assert len(kinds[0]["bars"]) == min(len(score.pieces), WINDOW)
        for n, bar in enumerate(kinds[0]["bars"]):
            options = [(o.piece, o.probability) for o in score.alternatives[n]]
            options.append((score.pieces[n].text, float(np.exp(score.log_probs[n]))))
            best = sorted((p for _, p in options), reverse=True)[:OPTIONS]
            assert [option["p"] for option in bar["options"]] == pytest.approx(best, abs=1e-6)
            label = bar["options"][bar["taken"]]["label"]
            named = NAMED.get(label, f"“{label}”")
            assert f"To write {named}, " in kinds[-1]["steps"][n]["says"]


def test_a_long_sentence_is_shown_in_a_window_that_says_what_is_left_out(
    translator: Translator, pairs: list[Pair], tmp_path: Path
) -> None:
    trace = translator.trace(" ".join(p.english for p in pairs[:8]), target=pairs[0].german * 5)
    steps = [SearchStep((("x", 0.5),), 0)] * len(trace.target_pieces)
    assert len(trace.source_pieces) > WINDOW < len(steps)
    sent = decode(encode_for_players(trace, steps)[1])[0]["trace"]
    assert [part["weights"].shape[-2:] for part in sent["kinds"]] == [(WINDOW, WINDOW)] * 3
    (kinds,) = states(tmp_path, [drawn(trace, steps)])
    outside = [len(side) - WINDOW for side in (trace.source_pieces, trace.target_pieces)]
    assert all(f"{count} subword" in kinds[0]["outside"] for count in outside)


def test_the_head_that_opens_first_shows_most_in_what_is_drawn_of_a_long_sentence() -> None:
    trace = made_trace(WINDOW + 9, 1, 2, 0)
    weights = np.zeros_like(trace.cross)
    weights[0, 0, :, WINDOW:] = 1 / 9
    weights[0, 1] = 1 / weights.shape[-1]
    far = replace(trace, cross=weights)
    assert watched_heads(far, ())["cross"] == Head("cross", 0, 1)
    link = WordPair(WINDOW - 1, WINDOW - 1, 1.0)
    assert watched_heads(far, [link, WordPair(WINDOW, 0, 1.0)])["cross"] == Head("cross", 0, 1)


def test_what_was_forced_stands_among_the_options_however_improbable_it_is() -> None:
    piece = Piece(7, "▁x", 0)
    others = tuple(Choice(f"▁{n}", 0.2) for n in range(4))
    options, taken = options_of(piece, -20.0, others)
    assert options[taken][0] == "▁x"
    more = (*others, Choice("▁5", 0.1))
    options, taken = options_of(piece, -20.0, more)
    assert len(options) == OPTIONS
    assert options[taken][0] == "▁x"


def test_a_run_is_shown_step_by_step_and_refused_where_its_shapes_differ(
    translator: Translator, pairs: list[Pair], tmp_path: Path
) -> None:
    traces = [translator.trace(pairs[0].english, target=pair.german) for pair in pairs[:1] * 2]
    heads = {kind: Head(kind, 0, 1) for kind in KINDS}
    steps = [
        TrainingStep(n, trace, f"text {n}") for n, trace in zip((1, 1024), traces, strict=True)
    ]
    message = encode_learning(steps, BESIDE, selected=heads)
    (kinds,) = states(tmp_path, [encode({"trace": message, "player": message})])
    sentences = [step["says"] for step in kinds[0]["steps"]]
    assert ["1,024" in text and "“text 1024”" in text for text in sentences] == [False, True]
    other = replace(traces[0], cross=traces[0].cross[:1])
    with pytest.raises(InputError, match="different shapes"):
        encode_learning([steps[0], TrainingStep(2, other, "")], BESIDE, selected=heads)
    with pytest.raises(InputError, match="no step"):
        encode_learning([], BESIDE, selected=heads)


def test_what_a_browser_sends_is_checked(translator: Translator, pairs: list[Pair]) -> None:
    trace = translator.trace(pairs[0].english)
    given = {"kind": "cross", "layer": 1, "head": 2, "query": 0, "key": 1}
    assert head_of(given, trace) == given
    malformed = [{"kind": "cross"}, {**given, "kind": "x"}, {**given, "layer": 9}]
    for sent in (None, 7, [], {}, *malformed, {**given, "layer": True}):
        assert head_of(sent, trace) is None
