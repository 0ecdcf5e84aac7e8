"""Words of the field in one sentence each, and the page on which each needs it."""

TERMS = {
    "log probability": "logarithm of the model’s probability for the whole translation; 0 is "
    "certain; the more negative, the less likely.",
    "subword": "the unit that the model reads and writes: a word, or a part of a rare one.",
    "head": "one of several attention maps that a layer computes side by side; L3 H5 is head 5 of "
    "layer 3.",
    "encoder": "the half of the model that reads the source sentence.",
    "decoder": "the half that writes the translation, one subword at each step.",
    "cross-attention": "where the decoder looks in the source sentence.",
    "weight": "the share of its attention that a row gives to a column, from 0 to 1.",
    "lens": "a measure of how much a row takes from each column; the attention weights are one.",
    "entropy": "how evenly a row spreads its weight: 0 bits is all on one token.",
    "</s>": "the token that ends a sentence; `<s>` starts one.",
    "beam": "the partial translations that the search keeps at each step.",
    "alignment error": "the share of word links that differ from those that people drew.",
    "nat": "unit of a natural logarithm: 1 nat less is a probability 2.7 times smaller.",
    "loss": "the mean of −log probability of a subword; lower is better.",
}
"""Definitions by the word on the screen."""

_HEADS = ("head", "encoder", "decoder", "cross-attention", "weight")
_WORDS = {
    "bar": ("log probability", "subword"),
    "translate": (*_HEADS, "beam", "alignment error"),
    "heads": (*_HEADS, "lens", "entropy", "</s>"),
    "inside": (*_HEADS, "entropy", "</s>"),
    "roles": (*_HEADS, "</s>", "loss", "nat"),
    "corpus": (*_HEADS, "subword", "</s>", "loss", "nat"),
    "masks": ("encoder", "decoder", "cross-attention", "</s>", "loss", "nat"),
    "positions": ("encoder", "decoder", "nat"),
    "schedule": ("loss",),
    "training": (*_HEADS, "loss", "nat"),
    "architecture": _HEADS,
}

SOURCE_SHARE_LIMITS = (
    "They say what the model used, not whether the word is right: left-out text in whole sentences "
    "is found no better than chance (AUC 0.46 to 0.49 in HalOmi, Dale et al. 2023), and in a "
    "six-layer German-English model the last layer points the other way (arXiv 2606.13216). In a "
    "translation that you type they follow what the model would have written instead."
)
"""Limits of the shares of the source, wherever these are shown."""


def help_on(place: str) -> str:
    """Return the help of the bar or of a page, by its path: a line in Markdown for each word."""
    return "  \n".join(f"**{_escaped(word)}**: {TERMS[word]}" for word in _WORDS[place])


def _escaped(word: str) -> str:
    return word.replace("<", "\\<")
