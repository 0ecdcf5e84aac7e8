"""Parameters are parameters_of_model by formula and in the real model."""

import pytest

from tests.viz.app_test import texts
from tests.viz.pages.reading import records, tables
from transformer import Transformer, TransformerConfig


def test_the_parameters_of_the_base_model_are_counted_twice(opened) -> None:
    app = opened(arch_view="parameters")
    assert app.metric[0].value == "63.05 M"
    count = "63,045,632"
    text = f"{count} by formula; {count} in the model: the same. Table 3 says 65 M."
    assert text in texts(app)
    assert "The table shows: base model." in texts(app)
    rows = tables(app)[0][2:]
    assert sum(float(share.rstrip("%")) for *_, share in rows) == pytest.approx(100, abs=0.05)


def test_presets_and_fields_reach_the_formula_and_the_real_model(opened, translator) -> None:
    app = opened(
        arch_view="parameters", arch_N="2", arch_d_model="32", arch_d_ff="48", arch_h="3",
        arch_d_k="5", arch_d_v="7", arch_vocab_size="100", arch_max_length="9",
        arch_positions="learned",
    )  # fmt: skip
    config = TransformerConfig(
        vocab_size=100, N=2, d_model=32, d_ff=48, h=3, d_k=5, d_v=7, max_length=9,
        positions="learned",
    )  # fmt: skip
    total = Transformer(config).number_of_parameters()
    assert f"{total:,} by formula; {total:,} in the model: the same." in texts(app)
    served = sum(parameter.numel() for parameter in translator.model.parameters())
    ends = {row["model"]: row["count"] for rows in records(app) for row in rows if "label" in row}
    assert (ends["your sizes"], ends["this model"]) == (total, served)
    assert "The table shows: your sizes." in texts(app)


def test_a_configuration_that_cannot_be_gets_its_one_sentence(opened) -> None:
    app = opened(arch_view="parameters", arch_h="7")
    assert texts(app)[-1] == (
        "d_model = 512 cannot be divided among h = 7 heads: choose an h that divides d_model, or "
        "give d_k and d_v."
    )
    app.number_input(key="arch_h").set_value(8).run()
    assert app.metric[0].value == "63.05 M"
