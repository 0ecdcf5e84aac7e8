"""The drawings of lines, alone: ribbons, word links and the tree of a search."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.browser import app_page, offline
from tests.browser.parts import test_attention_map
from transformer.analysis.alignment import WordPair
from transformer.text.languages import OURS
from viz.draw import attention_map, beam_tree, trace_message, word_links

pytestmark = pytest.mark.browser

HOT = 0.913


def alone(*spots, labels=test_attention_map.LABELS):
    """A few weights, each by its query, key and value, and nothing else."""
    weights = np.zeros((len(labels.queries), len(labels.keys)), dtype=np.float32)
    for query, key, weight in spots:
        weights[query, key] = weight
    return weights


def ribbons_of(*heads, labels=test_attention_map.LABELS, **options):
    """Heads by their names."""
    axes = attention_map.MapAxes("cross", labels, OURS, reads=options.pop("reads", None))
    look = attention_map.Look(**options)
    return attention_map.encode_ribbons(list(heads), axes, title="cross-attention", look=look)


def inked(page, text):
    """Return whether a ribbon ends at this word, from a pixel just beside it."""
    word = next(word for word in page.words() if word["text"] == text)
    left = word["x"] < page.canvas.bounding_box()["width"] / 2
    x = word["end"][0] + 16 if left else word["start"][0] - 16
    return page.color(x, word["y"]) != offline.rgb(offline.PAPER["light"])


def rows(page):
    """The words of each row and the numbers beside them, from the left."""
    ends: dict[int, list[str]] = {}
    words = page.words()
    row = words[1]["y"] - words[0]["y"]
    for word in sorted(words, key=lambda word: word["start"][0]):
        ends.setdefault(round((word["y"] - words[0]["y"]) / row), []).append(word["text"])
    return ends


def test_a_word_shows_its_ribbons_and_exact_weights_by_pointer_and_keys(still):
    head = alone((2, 5, HOT), (2, 0, 1 - HOT), (1, 1, 0.2), (3, 3, 0.009))
    page = still(ribbons_of(("L1 H1", head), reads=("<s>", *test_attention_map.GERMAN[:-1])))
    note = page.page.locator(".hl-foot > span").first
    assert note.inner_text() == "Weights under 0.01 are not drawn."
    assert [inked(page, word) for word in ("Zwei", "schwarze", "Hun", "·de")] == [
        False, True, True, False,
    ]  # fmt: skip
    page.move(*page.spot("Hun"))
    assert page.readout() == "This step reads “schwarze” and predicts “Hun”."
    assert (inked(page, "Hun"), inked(page, "schwarze")) == (True, False)
    page.click(*page.spot("·bee"))  # from where it is looked at, it is the only one
    assert [inked(page, word) for word in ("Two", "black", "·bee")] == [False, False, True]
    assert rows(page)[2] == ["Hun", "0.913", "dogs"]
    assert rows(page)[3] == ["·de", "0", "run"]
    page.move(*page.spot("Hun"))
    assert page.readout().startswith("“Hun” → “·bee”\nL1 H10.913")
    page.click(*page.spot("Hun"))  # and from where it looks
    assert [inked(page, word) for word in ("Zwei", "schwarze", "Hun")] == [False, False, True]
    assert rows(page)[5][-2:] == ["0.913", "·bee"]
    assert rows(page)[0][-2:] == ["0.0870", "Two"]
    page.click(*page.spot("Hun"))  # once more lets go
    assert rows(page)[0] == ["Zwei", "Two"]
    page.click(*page.spot("run"))
    assert rows(page)[3][:2] == ["·de", "0.0090"]  # no ribbon, the number all the same
    assert not inked(page, "·de")
    page.click(*page.spot("run"))

    page.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert page.read_out() == "“Hun” → L1 H1 “·bee” 0.913"
    page.press("ArrowRight", "End", "ArrowUp", "Enter")
    assert page.read_out() == "“·bee” picked"
    page.press("ArrowLeft", "ArrowLeft", "Home")  # no further
    assert page.read_out() == "“Zwei” → “·bee” L1 H1 0"
    page.press("Escape")
    assert rows(page)[0] == ["Zwei", "Two"]


SOURCE = ["Yesterday", "I", "saw", "dogs", "running", "."]
TARGET = ["Gestern", "sah", "ich", ",", "wie", "Hunde", "liefen", "."]
ENDS = ((0, 0, 0.9), (2, 1, 0.75), (1, 2, 0.6), (3, 5, 0.95), (4, 6, 0.5), (4, 4, 0.004))
PAIRS = [WordPair(*ends) for ends in ENDS]


def side(words):
    pieces = [f"▁{word}" for word in words]
    return {"text": " ".join(words), "pieces": pieces, "words": [*range(len(words))]}


def links_of(pairs, source=SOURCE, target=TARGET):
    mutual = [pair for pair in pairs if pair.strength >= 0.5]
    trace = {
        "source": side(source), "target": side(target), "kinds": [], "options": [], "p": np.zeros(0)
    }  # fmt: skip
    about, links = trace_message.about(OURS, "By a model"), trace_message.word_links(pairs, mutual)
    return word_links.encode_links(trace, about, links, made_by="layer 2, lens: norms")


def numbers(page):
    """Each strength that is drawn, by the word that it stands at: the nearest."""
    drawn = page.words()
    is_number = re.compile(r"(< )?\d\.\d\d").fullmatch
    words = [word for word in drawn if not is_number(word["text"])]
    return {
        min(words, key=lambda w: abs(w["x"] - n["x"]) + abs(w["y"] - n["y"]))["text"]: n["text"]
        for n in drawn
        if is_number(n["text"])
    }


def link_at(page, source, target, nth=0):
    """Return whether there is ink half way between two words that stand one over the other."""
    (x0, y0), (x1, y1) = page.spot(source), page.spot(target, nth)
    return page.color((x0 + x1) / 2, (y0 + y1) / 2) != offline.rgb(offline.PAPER["light"])


def test_a_word_shows_its_partners_and_keeps_them_when_pinned(still):
    page = still(links_of(PAIRS))
    assert page.texts() == [*SOURCE, *TARGET]
    assert link_at(page, "dogs", "Hunde")
    assert not link_at(page, ".", ".", 1)
    for word, partners in (
        ("running", {"liefen": "0.50", "wie": "< 0.01"}),
        ("Hunde", {"dogs": "0.95"}),
        (",", {}),
    ):
        page.move(*page.spot(word))
        assert numbers(page) == partners
    page.click(*page.spot("Yesterday"))
    assert numbers(page) == {"Gestern": "0.90"}
    # another strength of the same words: still pinned; other words: not
    page.show(links_of([WordPair(0, 1, 0.3)]))
    assert numbers(page) == {"sah": "0.30"}
    page.show(links_of([WordPair(0, 0, 1.0)], target=["Ja"]))
    assert numbers(page) == {}

    page.show(links_of(PAIRS))
    page.press("ArrowDown", "End", "ArrowLeft")
    assert page.read_out() == "“running”: “liefen” 0.50, “wie” < 0.01, dashed"
    page.press("ArrowDown", "Enter")
    assert page.read_out() == "“liefen” pinned"
    page.press("ArrowRight")
    assert page.read_out() == "“.”: no partner"
    page.page.mouse.move(1, 890)
    page.press("Escape")
    assert numbers(page) == {}


def tree(*rows):
    """Nodes of parent, piece, log P of the piece and state; what is finished has a score."""
    nodes: list[beam_tree.DrawnNode] = []
    for parent, text, log_prob, state in rows:
        before = None if parent is None else nodes[parent]
        total = log_prob + (before.total if before else 0)
        step = before.step + 1 if before else 1
        reason = "Two other candidates are more probable." if state == "dropped" else ""
        score = total / 2 if state == "finished" else None
        nodes.append(beam_tree.DrawnNode(parent, text, log_prob, total, step, state, reason, score))
    return nodes


SMALL = tree(
    (None, "▁Hunde", -0.25, "kept"),
    (None, "▁שלום", -1.5, "kept"),
    (None, "▁<b>", -4.0, "dropped"),
    (0, "▁rennen", -0.5, "kept"),
    (0, "▁laufen", -1.0, "kept"),
    (3, "</s>", -0.25, "finished"),
    (4, "</s>", -0.25, "finished"),
)
FORCED = tree(
    (None, "▁Hunde", -0.25, "forced"),
    (0, "▁laufen", -1.0, "forced"),
    (1, "</s>", -0.25, "finished"),
)


def tree_of(nodes=SMALL, best=5):
    return beam_tree.encode_tree(nodes, best=best, caption=["By a model."], languages=OURS)


def test_pieces_are_read_walked_and_picked(still, tmp_path):
    page = still(tree_of())
    assert {"Hunde", "שלום", "rennen", "laufen", "−0.50", "−0.75"} <= set(page.texts())
    x, y = page.spot("laufen")
    assert page.color(x, y - 5) == offline.rgb(offline.PAPER["light"])
    page.move(x, y)
    assert page.readout().split("\n") == [
        "“laufen”0.368",
        "“Hunde laufen”",
        "log probability up to here −1.25",
        "Kept at step 2, rank 2 of 2.",
    ]
    assert page.color(x, y - 5) != offline.rgb(offline.PAPER["light"])  # its ground
    page.click(x, y)
    page.click(*page.spot("שלום"))
    page.click(400, 100)  # beside the tree
    assert [pick["node"] for pick in page.picked()] == [4, 1]
    app_page.expect(page.tip).to_be_hidden()
    # what was dropped comes and goes, and stays with other data of the same search
    dropped = page.page.get_by_label("show 1 discarded candidate")
    assert "<b>" not in page.texts()
    dropped.check()
    page.move(*page.spot("<b>"))
    assert page.readout().endswith(
        "Dropped at step 1, rank 3 of 3. Two other candidates are more probable."
    )
    page.show(tree_of())
    assert "<b>" in page.texts()
    dropped.uncheck()
    assert "<b>" not in page.texts()
    picked = lambda: [choice for choice in page.picked() if "node" in choice]  # noqa: E731
    assert len(picked()) == 2

    page.page.mouse.move(1, 890)
    page.press("ArrowRight", "ArrowRight", "ArrowDown")
    assert page.read_out().startswith("“laufen” 0.368. “Hunde laufen”. log probability up to here")
    page.press("Enter")
    assert picked()[2] == {"node": 4, "prefix": "▁Hunde▁laufen"}
    assert page.read_out() == "“Hunde laufen” is forced"
    # in the new tree the same prefix is pointed at
    room = page.scroll.bounding_box()["height"]
    page.show(tree_of(FORCED, best=2))
    assert page.readout().startswith("“laufen”")
    assert page.scroll.bounding_box()["height"] == room  # what stands below does not move
    page.press("ArrowRight", "Enter")
    assert picked()[3]["node"] == 2
    rows = page.page.locator(".hl-unseen table tbody tr")
    assert rows.locator("td").all_text_contents() == ["Hunde laufen", "−0.75", "−1.5", "3"]
    path = page.save("SVG", tmp_path)
    assert path.name == "headlight-beam-tree.svg"
    texts = {word["text"] for word in offline.words_of(ET.parse(path).getroot())}
    assert {"Hunde", "laufen", "−0.75", "By a model."} <= texts
