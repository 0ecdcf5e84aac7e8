"""Runs are counted, whatever ends them."""

from collections.abc import Iterator

import pytest

from viz.app.cache.memory import forget_server_wide
from viz.app.cache.metrics import metrics, timed_run


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget_server_wide()
    yield
    forget_server_wide()


def value(name: str, **labels: str) -> float:
    return metrics().registry.get_sample_value(name, labels) or 0


def test_a_run_is_counted_by_its_page() -> None:
    with timed_run("heads"):
        pass
    with pytest.raises(KeyError), timed_run("masks"):
        raise KeyError
    counts = [value("headlight_run_seconds_count", page=page) for page in ("heads", "masks", "x")]
    assert counts == [1, 1, 0]
