import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.viz.draw.message import decode
from viz.draw import wire
from viz.draw.wire import encode, is_index


def test_arrays_come_back_with_their_shapes_wherever_they_stand():
    arrays: dict[str, NDArray] = {
        "levels": np.arange(5, dtype=np.uint8),
        "weights": np.linspace(0, 1, 6, dtype=np.float32).reshape(1, 2, 3),
        "turned": np.arange(6, dtype=np.int32).reshape(2, 3).T,
        "none": np.zeros((0, 4), dtype=np.float64),
    }
    for length in range(20):  # each begins at a multiple of 8
        plain = {"title": "L" * length, "order": None}
        message, own = decode(encode({**plain, **arrays, "parts": [encode({"all": arrays})]}))
        assert {name: message[name] for name in plain} == plain
        for there in (own, message["parts"][0]["all"]):
            for name, array in arrays.items():
                assert there[name].shape == array.shape
                assert (there[name] == array).all()


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.bool_, object])
def test_numbers_that_a_browser_has_no_array_for_are_refused(dtype):
    with pytest.raises(ValueError, match="an array of"):
        encode({"weights": np.zeros(2, dtype=dtype)})


def test_a_header_that_no_json_can_say_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"threshold": float("nan")})


@pytest.mark.parametrize("value", [None, True, -1, 2, 1.0, "1", [1]])
def test_an_index_is_a_whole_number_below_the_count(value: object) -> None:
    assert not is_index(value, 2)
    assert is_index(0, 2)
    assert is_index(1, 2)


def test_every_picture_that_is_encoded_has_a_component_of_its_name() -> None:
    sources = [path.read_text("utf-8") for path in Path(wire.__file__).parent.glob("*.py")]
    encoded = {
        name
        for source in sources
        for name in re.findall(r'(?:encode_picture\(|"component": )"(\w+)"', source)
    }
    table = (Path(wire.__file__).parents[1] / "browser/components.ts").read_text("utf-8")
    # the explorer is a page of its own; a trace and a value draw nothing
    assert encoded - {"explorer", "trace", "value"} == {*re.findall(r" as (\w+) ", table)}
