"""The hook points of one layer by box of Figure 1, their axes, and an example of an edit."""

from collections.abc import Mapping

from transformer.analysis.teacher_forcing import ForcedPair, values_at
from transformer.arrays import Singles
from transformer.model import Transformer

_HEADS = ("batch", "head")
_AXES = {
    "mask": (*_HEADS, "query", "key"),
    "q": (*_HEADS, "query", "d_k"),
    "k": (*_HEADS, "key", "d_k"),
    "v": (*_HEADS, "key", "d_v"),
    "attn_scores": (*_HEADS, "query", "key"),
    "pattern": (*_HEADS, "query", "key"),
    "z": (*_HEADS, "query", "d_v"),
    "result": (*_HEADS, "query", "d_model"),
    "hidden": ("batch", "position", "d_ff"),
}
_STREAM = ("batch", "position", "d_model")


def value_name(point: str) -> str:
    """Return the name of the value at a hook point, such as `q`."""
    return point.rpartition(".hook_")[2]


def axes(point: str) -> tuple[str, ...]:
    """Name the axes of the value at a hook point."""
    return _AXES.get(value_name(point), _STREAM)


def layer_points(model: Transformer, layers: Mapping[str, int]) -> dict[str, list[str]]:
    """List the hook points of the embeddings and of one layer of each stack, by box of Figure 1.

    `layers` counts from 0, by stack.
    """
    boxes: dict[str, list[str]] = {}
    for point in model.hook_points():
        module, _, value = point.rpartition(".hook_")
        stack, *inner = module.split(".")
        if inner[0] == "embedding":  # token, position and sum have a box each
            inner = [{"tokens": "embedding"}.get(value, value)]
        elif inner[1] != str(layers[stack]):
            continue
        boxes.setdefault(f"{stack}.{inner[-1]}", []).append(point)
    return boxes


def value_at(model: Transformer, pair: ForcedPair, point: str) -> Singles:
    """Run the model once over a sentence pair; return the value at a hook point."""
    value: Singles = values_at(model, pair, (point,))[1][point].detach().cpu().numpy()
    return value


def example_edit(point: str, head: int) -> str:
    """Return the Python of an edit of `value`: zeros, in one head if there are heads.

    A mask lets each query see the first key alone: with none in sight, no row has weights.
    """
    if value_name(point) == "mask":
        return "value & (torch.arange(value.size(-1)) == 0)"
    if axes(point)[1] == "head":
        return f"value.index_fill(1, torch.tensor([{head}]), 0)"
    return "torch.zeros_like(value)"
