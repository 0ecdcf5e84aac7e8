"""Parameters are parameters_of_model by formula and in the real model."""

from tests.viz.app_test import texts


def test_a_configuration_that_cannot_be_gets_its_one_sentence(opened) -> None:
    app = opened(arch_view="parameters", arch_h="7")
    assert texts(app)[-1] == (
        "d_model = 512 cannot be divided among h = 7 heads: choose an h that divides d_model, or "
        "give d_k and d_v."
    )
    app.number_input(key="arch_h").set_value(8).run()
    assert app.metric[0].value == "63.05 M"
