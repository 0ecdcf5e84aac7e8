"""Table 3 is the paper's."""

import pytest

from transformer import TransformerConfig
from transformer.analysis.paper.costs import parameters_by_formula
from viz.app.model_variations import TABLE_3, describe_change

# PPL and BLEU of Table 3, read row by row
PRINTED = [
    ("base", 4.92, 25.8), ("(A) h = 1", 5.29, 24.9), ("(A) h = 4", 5.00, 25.5),
    ("(A) h = 16", 4.91, 25.8), ("(A) h = 32", 5.01, 25.4), ("(B) d_k = 16", 5.16, 25.1),
    ("(B) d_k = 32", 5.01, 25.4), ("(C) N = 2", 6.11, 23.7), ("(C) N = 4", 5.19, 25.3),
    ("(C) N = 8", 4.88, 25.5), ("(C) d_model = 256", 5.75, 24.5),
    ("(C) d_model = 1024", 4.66, 26.0), ("(C) d_ff = 1024", 5.12, 25.4),
    ("(C) d_ff = 4096", 4.75, 26.2), ("(D) P_drop = 0", 5.77, 24.6),
    ("(D) P_drop = 0.2", 4.95, 25.5), ("(D) ε_ls = 0", 4.67, 25.3),
    ("(D) ε_ls = 0.2", 5.47, 25.7), ("(E) learned positions", 4.92, 25.7), ("big", 4.33, 26.4),
]  # fmt: skip


def test_table_3_has_the_papers_rows_in_their_order() -> None:
    assert [(row.name, row.perplexity, row.bleu) for row in TABLE_3] == PRINTED


@pytest.mark.parametrize("row", [row for row in TABLE_3 if row.millions], ids=lambda row: row.name)
def test_the_printed_parameters_are_near_to_what_our_model_has(row) -> None:
    """Within a tenth, whatever vocabulary the paper counted; a slip in a row would be far off."""
    config = TransformerConfig.base(**{k: v for k, v in row.shape.items() if k != "d_v"})
    assert sum(parameters_by_formula(config).values()) / 1e6 == pytest.approx(
        row.millions, rel=0.11
    )


def test_a_change_is_said_in_the_papers_symbols() -> None:
    assert describe_change("epsilon_ls", 0.0) == "ε_ls = 0"
    assert describe_change("positions", "learned") == "learned positions"
