"""Tokens that stand for no text are known by their spelling, or because a tokenizer says so."""

import pytest

from transformer.text.special_tokens import OURS, SpecialTokens, looks_special


@pytest.mark.parametrize(
    "token",
    ["<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "<bos>", "<|endoftext|>", "<|begin_of_text|>",
     "<|0.00|>", ">>fra<<", "eng_Latn", "en_XX", "__en__", "<2de>", "<start_of_turn>"],
)  # fmt: skip
def test_the_usual_ones_are_known(token) -> None:
    assert looks_special(token)


@pytest.mark.parametrize(
    "token", ["<unk>", "[MASK]", "[UNK]", "s", "<", "<a b>", "[1]", "snake_case", "a_B", "▁<s>", ""]
)
def test_what_stands_for_text_is_none(token) -> None:
    assert not looks_special(token)


def test_a_tokenizer_may_know_more() -> None:
    special = SpecialTokens.among(
        ["<EOT>", "a", "[SEP]", "<s>"], known=["<EOT>", "elsewhere"], ends=["<EOT>", "a"]
    )
    assert special == SpecialTokens(
        frozenset({"<EOT>", "[SEP]", "<s>"}), frozenset({"<EOT>", "[SEP]"})
    )


def test_ours_are_the_two_that_a_model_of_ours_reads() -> None:
    assert SpecialTokens.among(["<s>", "</s>", "▁a"]) == OURS
