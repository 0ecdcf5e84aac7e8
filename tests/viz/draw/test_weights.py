import numpy as np

from viz.draw.weights import to_bytes


def test_bytes_are_the_nearest_of_256_and_the_ends_are_exact():
    weights = np.linspace(0, 1, 1001, dtype=np.float32)
    levels = to_bytes(weights)
    assert levels.dtype == np.uint8
    assert (levels[0], levels[-1]) == (0, 255)
    assert np.abs(levels / 255 - weights).max() <= 0.5 / 255 + 1e-6
    assert (np.diff(levels.astype(int)) >= 0).all()
    assert to_bytes(np.array([-1e-6, 1 + 1e-6])).tolist() == [0, 255]
