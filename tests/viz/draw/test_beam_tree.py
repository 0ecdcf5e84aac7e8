"""Messages for the tree of a search, and what is taken for a node of it, without a browser."""

from tests.viz.draw.message import decode
from transformer.text.languages import OURS
from viz.draw.beam_tree import DrawnNode, encode_tree, node_of

NODES = (
    DrawnNode(None, "▁Hunde", -0.5, -0.5, 1, "kept"),
    DrawnNode(None, "▁Die", -1.25, -1.25, 1, "forced"),
    DrawnNode(0, "s", -3.0, -3.5, 2, "dropped", "Two others are more probable."),
    DrawnNode(0, "</s>", -0.25, -0.75, 2, "finished", score=-0.625),
)


def test_every_node_travels_with_its_numbers() -> None:
    message, _ = decode(encode_tree(NODES, best=3, chosen=1, caption=["a"], languages=OURS))
    for sent, node in zip(message["nodes"], NODES, strict=True):
        assert sent | {"parent": node.parent} == {**vars(node), "label": sent["label"]}
    assert [node["parent"] for node in message["nodes"]] == [-1, -1, 0, 0]
    assert [node["label"] for node in message["nodes"]] == ["Hunde", "Die", "·s", "end"]
    assert (message["best"], message["chosen"], message["caption"]) == (3, 1, ["a"])


def test_only_a_node_with_its_whole_prefix_is_one() -> None:
    prefixes = ["▁Hunde", "▁Die", "▁Hundes", "▁Hunde</s>"]
    clicks = [{"node": n, "prefix": prefix} for n, prefix in enumerate(prefixes)]
    assert [node_of(click, NODES) for click in clicks] == [0, 1, 2, 3]
    # the tree of another search has another prefix at that place
    assert node_of({"node": 2, "prefix": "▁Katzes"}, NODES) is None
    for other in (None, 4, -1, 1.0, True, "1", [1]):
        assert node_of({"node": other, "prefix": "▁Hunde"}, NODES) is None
        assert node_of(other, NODES) is None
