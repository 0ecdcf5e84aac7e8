"""Contents of a page of anybody's trace: the kinds, layers and heads that can be opened."""

import base64
import gzip

import numpy as np
import pytest

from tests.made_trace import made_trace
from tests.viz.draw.message import unpacked_message, words_of
from transformer import AttentionTrace, InputError, Kind
from transformer.analysis.lenses import lens_trace
from viz.draw import explorer
from viz.draw.explorer import Packing, choose_packing, encode_page
from viz.draw.heads_view import ExplorerOptions, HeadsView

SOURCE, TARGET = ("[CLS]", "un", "##do", "it", "[SEP]"), ("▁Mach", "▁es", "▁rück", "gängig")


def even(*shape):
    return np.full(shape, 1 / shape[-1], np.float32)


def ragged():
    """An encoder alone, whose three layers have three, one and two heads."""
    return AttentionTrace.from_arrays(
        encoder_self=[even(heads, 5, 5) for heads in (3, 1, 2)], source_tokens=SOURCE
    )


def cross_alone(**tokens):
    return AttentionTrace.from_arrays(cross=even(2, 2, 4, 5), source_tokens=SOURCE, **tokens)


def weights_of(trace, name):
    """Return the weights of a head as a page names it: `cross.2.5`."""
    kind, layer, head = name.split(".")
    return trace.weights(kind)[int(layer), int(head)].ravel()


def read(text):
    """Return the message, what it has in words, and the messages in it by name."""
    message = unpacked_message(text)
    inner = {"grid": message["grid"]}
    for kind, drawn in message["kinds"].items():
        ribbons = words_of(drawn["ribbonAxes"] or drawn["axes"])
        inner |= {f"{kind}.map": drawn, f"{kind}.ribbons": ribbons}
    inner |= {f"pair.{n}": part["grid"] for n, part in enumerate(message["pairs"])}
    return message, {kind: drawn["weights"] for kind, drawn in message["kinds"].items()}, inner


def hybrid():
    """A decoder alone, of whose four layers the second and the last have attention."""
    maps = [np.tril(even(2, 4, 4)) * share for share in (1, 0.5)]
    return AttentionTrace.from_arrays(
        decoder_self=[None, maps[0], None, maps[1]], decoder_tokens=TARGET
    )


def test_layers_of_a_hybrid_model_keep_their_numbers_on_the_page():
    meta, weights, inner = read(encode_page(hybrid(), ExplorerOptions()).message)
    (part,) = inner["grid"]["parts"]
    assert (part["layers"], part["counts"]) == (4, [0, 2, 0, 2])
    assert (meta["selected"], meta["name"]) == (["decoder_self", 1, 0], "L2 H1")
    np.testing.assert_array_equal(weights["decoder_self"], hybrid().decoder_self)
    assert inner["grid"]["order"] is None
    for options, title, weight in (
        (ExplorerOptions(layer=3, head=None), "layer 4 · mean of 2 heads · decoder", 0.5),
        (ExplorerOptions(layer=None, head=1), "head 2 · mean of 2 layers · decoder", 0.75),
        (ExplorerOptions(layer=None, head=None), "mean of all 4 heads · decoder", 0.75),
    ):
        view = HeadsView(hybrid(), options)
        assert view.opened.title == title
        np.testing.assert_allclose(view.opened.weights, np.tril(even(4, 4)) * weight)
    _, _, inner = read(encode_page(hybrid(), ExplorerOptions(sort="entropy")).message)
    assert {tuple(head[1:]) for head in inner["grid"]["order"]} == {(1, 0), (1, 1), (3, 0), (3, 1)}
    for choice, message in (
        ({"layer": 2}, "no layer 3 with a head 1: this model has 2 layers of 2 heads"),
        ({"layers": (0,)}, "no layer 1: the trace has 2, 4"),
    ):
        with pytest.raises(InputError, match=message):
            encode_page(hybrid(), ExplorerOptions(**choice))
    with pytest.raises(InputError, match="through every layer"):
        lens_trace("rollout", None, hybrid())


def test_axes_and_notes_claim_no_language_no_writing_and_no_sum_that_is_not_known():
    _, _, inner = read(encode_page(ragged(), ExplorerOptions()).message)
    assert inner["encoder_self.map"]["rows"] == "The position that looks"
    assert "weights of each row sum to 1" in inner["encoder_self.map"]["note"]
    assert inner["encoder_self.map"]["queries"] == ["[CLS]", "un", "·do", "it", "[SEP]"]
    _, _, inner = read(encode_page(cross_alone(decoder_tokens=TARGET), ExplorerOptions()).message)
    for name in ("cross.map", "cross.ribbons"):
        assert inner[name]["rows"] == "Target: last word read"
        assert inner[name]["columns"] == "Source: where it looks"
        assert inner[name]["rowNames"] is None
    _, _, inner = read(encode_page(cross_alone(target_tokens=TARGET), ExplorerOptions()).message)
    assert inner["cross.map"]["rows"] == "Target: next word predicted"
    trace = AttentionTrace.from_arrays(encoder_self=even(1, 2, 5, 5) * 0.9, source_tokens=SOURCE)
    _, _, inner = read(encode_page(trace, ExplorerOptions()).message)
    assert "Not every row of weights sums to 1" in inner["encoder_self.map"]["note"]


@pytest.mark.parametrize("causal", [True, False])
def test_what_is_hidden_depends_on_the_mask_and_not_on_the_kind(causal):
    weights = np.eye(4, dtype=np.float32)[None, None]
    if not causal:
        weights[0, 0, 1] = [0, 0.5, 0, 0.5]
    trace = AttentionTrace.from_arrays(decoder_self=weights, decoder_tokens=TARGET)
    _, _, inner = read(encode_page(trace, ExplorerOptions()).message)
    assert inner["decoder_self.map"]["axes"]["causal"] == causal
    assert inner["grid"]["parts"][0]["causal"] == causal


PAIR = ("[CLS]", "un", "##do", "it", "[SEP]", "it", "works", "[SEP]")


def pair(**choice):
    """Each row looks at the token after it, the last one at the first."""
    weights = np.roll(np.eye(8, dtype=np.float32), 1, axis=1)[None, None]
    trace = AttentionTrace.from_arrays(encoder_self=weights, source_tokens=PAIR, second_start=5)
    return read(encode_page(trace, ExplorerOptions(**choice)).message)


def test_a_pair_of_texts_has_four_parts_with_a_grid_of_each():
    meta, _, inner = pair()
    parts = [
        (part["looking"], part["looked_at"], part["rows"], part["keys"]) for part in meta["pairs"]
    ]
    first, second = [0, 5], [5, 8]
    assert parts == [
        ("first", "first", first, first),
        ("first", "second", first, second),
        ("second", "first", second, first),
        ("second", "second", second, second),
    ]
    assert "to the other text is left out of its sum" in meta["pairs"][1]["note"]
    (whole,) = inner["grid"]["parts"]
    assert len(whole["queries"]) == 8
    strongest = [inner[f"pair.{n}"]["parts"][0]["strongest"][0][0] for n in range(4)]
    assert strongest == [[0, 1, 1.0], [4, 0, 1.0], [2, 0, 1.0], [0, 1, 1.0]]
    (crossing,) = inner["pair.1"]["parts"]
    assert crossing["keys"] == ["▁it", "▁works", "[SEP]"]
    assert crossing["roles"] == whole["roles"]  # a head is named by all that it looks at
    assert (crossing["weights"][0, 0] > 0).nonzero()[0].tolist() == [4]


def test_the_second_text_begins_at_its_own_word_and_token():
    ends = [
        [part["rows"][1] for part in pair(**choice)[0]["pairs"]]
        for choice in ({"words": True}, {"special": False}, {"words": True, "special": False})
    ]
    assert ends == [[4, 4, 7, 7], [3, 3, 5, 5], [2, 2, 4, 4]]


def test_only_what_can_be_opened_is_in_a_page(monkeypatch):
    monkeypatch.setattr(explorer, "WHOLE_BYTES", 0)
    trace = made_trace(6, 3, 2, 0)
    kinds: tuple[Kind, ...] = ("cross", "encoder_self")
    encoded = encode_page(
        trace, ExplorerOptions("cross", 1, 1, kinds=kinds, layers=(0, 2), over=((1, 0),))
    )
    assert [*encoded.heads][:2] == ["cross.1.1", "cross.1.0"]  # open first, so read first
    layers = [f"{kind}.{n}.{head}" for kind in kinds for n in (0, 2) for head in (0, 1)]
    assert [*encoded.heads][2:] == layers
    for name, text in encoded.heads.items():
        expected = weights_of(trace, name)
        assert (unpacked(text, Packing()) == expected).all()
    assert [*read(encoded.message)[1].values()] == [None, None]
    assert not encoded.notes
    monkeypatch.setattr(explorer, "EXACT_BYTES", 0)
    encoded = encode_page(trace, ExplorerOptions())
    assert "rounded to steps of 0.000015, 16 bits each" in encoded.notes[0]
    assert read(encoded.message)[0]["steps"] == "0.000015"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"kind": "cross"}, "no cross-attention in this trace: it has encoder self-attention"),
        (
            {"layer": 1, "head": 1},
            "no layer 2 with a head 2: this model has 3 layers of 1 to 3 heads",
        ),
        ({"over": ((0, None),)}, "A mean cannot lie over the open head"),
        ({"over": ((0, 1),) * 8}, "8 heads cannot lie over the open one"),
        ({"layers": (3,)}, "no layer 4: the trace has 3"),
        ({"kinds": ("decoder_self",)}, "no decoder self-attention"),
        ({"sort": "size"}, "sort = 'size' does not exist"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(choice, message):
    with pytest.raises(InputError, match=message):
        encode_page(ragged(), ExplorerOptions(**choice))


def unpacked(text, packing):
    """Read from the description of the form, not with the code that writes it."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(text)), np.uint8)
    dtype = np.dtype(packing.dtype).newbyteorder("<")
    numbers = planes.reshape(dtype.itemsize, -1).T.copy().view(dtype)[:, 0]
    return numbers.astype(np.float64) * packing.unit


def random_weights(*shape, least=0.0):
    random = np.random.default_rng(0)
    return random.uniform(least, 1, shape).astype(np.float32)


@pytest.mark.parametrize(("least", "dtype"), [(0.0, "uint16"), (-1.0, "int16")])
def test_many_are_rounded_by_less_than_a_step_and_only_0_is_0(monkeypatch, least, dtype):
    monkeypatch.setattr(explorer, "EXACT_BYTES", 100)
    weights = random_weights(40, 30, least=least)
    weights[0, :4] = 0, 1e-9, 1, max(least, -1e-9)
    packing = choose_packing([weights, random_weights(3, 3)])
    assert packing.dtype == dtype
    assert packing.unit < 4e-5
    for text in packing.texts([weights] * 3):
        values = unpacked(text, packing)
        np.testing.assert_allclose(values, weights.ravel(), atol=packing.unit)
        assert ((values == 0) == (weights.ravel() == 0)).all()
        assert (np.sign(values) == np.sign(weights.ravel())).all()
    weights = np.array([[0.25, 17.5]], np.float32)  # above 1, nothing is cut
    packing = choose_packing([weights] * 20)
    np.testing.assert_allclose(unpacked(packing.text(weights), packing), weights[0], atol=2e-4)


def test_more_than_a_browser_opens_is_refused(monkeypatch):
    monkeypatch.setattr(explorer, "EXACT_BYTES", 1)
    monkeypatch.setattr(explorer, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="60 weights, and the most is 50"):
        choose_packing([np.zeros((6, 5), np.float32)] * 2)
