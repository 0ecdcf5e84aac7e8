"""Work and memory by formula and as measured."""

from tests.viz.app_test import texts
from transformer.paper import costs
from viz.app import measurements
from viz.pages.self_attention.costs import explain_difference


def test_without_a_measurement_the_page_says_how_to_make_one(opened, monkeypatch, tmp_path) -> None:
    for text in (None, '{"layers": {"recurrent": [{"n": 3}]}}'):
        monkeypatch.setattr(measurements, "FOLDER", tmp_path)
        if text is not None:
            (tmp_path / "layers.json").write_text(text)
        app = opened()
        assert any("python -m benchmarks layers" in line for line in texts(app))
        assert len(app.get("vega_lite_chart")) == 1


def test_the_sentence_counts_where_convolution_is_first() -> None:
    """By Table 1 it is the cheapest nowhere; with all factors wherever k is below four."""
    lengths = [16.0, 512.0, 4096.0]
    seconds = {
        "self-attention": [2.0, 2.0, 9.0],
        "recurrent": [3.0, 1.0, 5.0],
        "convolutional": [1.0, 3.0, 4.0],
    }
    curves = {"seconds": {name: (lengths, values) for name, values in seconds.items()}}
    measurement = measurements.Measurement(curves, (256, 4, 3), "")
    for k, fewest in ((3, 3), (6, 2), (40, 0)):
        sizes = costs.Sizes(d=256, k=k, r=64, h=4)
        text = explain_difference(measurement, sizes)
        works = [min(n * n * 256, n * 256**2) >= k * n * 256**2 for n in lengths]
        all_of_them = [
            k * n * 256**2 <= min(4 * n * 256**2 + 2 * n * n * 256, 8 * n * 256**2) for n in lengths
        ]
        assert sum(all_of_them) == fewest
        assert (
            f"fastest at 2 of these 3 lengths, and the cheapest by Table 1 at {sum(works)}" in text
        )
        assert f"k · d = {k * 256:,}" in text
        assert f"multiplications at {fewest} of 3" in text
