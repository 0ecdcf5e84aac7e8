import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer import config, masks

BATCHES = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=4
    )
)


@given(BATCHES)
def test_padding_is_hidden_and_every_real_token_is_seen(rows):
    mask = masks.padding_mask(torch.tensor(rows))
    assert mask.shape == (len(rows), 1, 1, len(rows[0]))
    assert mask.flatten(1).tolist() == [[token != 0 for token in row] for row in rows]


@given(st.integers(1, 12))
def test_no_query_sees_a_later_key(length):
    """§3.2.3: position i may attend to positions up to and including i."""
    expected = [[key <= query for key in range(length)] for query in range(length)]
    assert masks.causal_mask(length).tolist() == [[expected]]


@given(queries=st.integers(1, 8), earlier=st.integers(0, 8))
def test_fewer_queries_than_keys_are_the_last_ones(queries, earlier):
    whole = masks.causal_mask(queries + earlier)
    assert torch.equal(masks.causal_mask(queries, queries + earlier), whole[:, :, earlier:])


@given(BATCHES)
def test_both_masks_together_hide_what_either_hides(rows):
    mask = masks.padding_and_causal_mask(torch.tensor(rows))
    width = range(len(rows[0]))
    expected = [[[[row[k] != 0 and k <= q for k in width] for q in width]] for row in rows]
    assert mask.tolist() == expected


def test_shorter_rows_are_filled_up_on_the_right() -> None:
    padded = masks.pad_sequences([[7, 8, 9], [5], [6, 4]])
    assert padded.tolist() == [[7, 8, 9], [5, config.PAD, config.PAD], [6, 4, config.PAD]]
    assert padded.dtype == torch.long
