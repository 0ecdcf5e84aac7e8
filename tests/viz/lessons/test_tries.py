from viz.lessons.tries import AGAIN, SHOWN, Tries, latest, read_tries, with_try, write_tries

MOST = 200


def given(*pairs: tuple[str, str]) -> Tries:
    tries: Tries = {}
    for task, text in pairs:
        tries = with_try(tries, task, text)
    return tries


def test_tries_are_read_as_they_were_written():
    tries = given(
        ("a1", "8"), ("b2", "x~y|z"), ("a1", AGAIN), ("a1", " 7  €"), ("c3", SHOWN), ("b2", AGAIN)
    )  # fmt: skip
    assert tries == {"a1": ["8", "7 €"], "b2": ["x y z", ""], "c3": ["?"]}
    assert read_tries(write_tries(tries, MOST)) == tries
    # a browser sends one try for the key and for the button
    assert with_try(tries, "a1", "7 €") == tries
    assert read_tries("") == read_tries("3~4~~1") == {}


def test_what_does_not_fit_an_address_is_the_oldest_and_never_that_an_answer_was_shown() -> None:
    tries: Tries = {"b2": ["1", SHOWN, "2"]}
    for number in range(100):
        tries = with_try(tries, "a1", f"try {number}")
        text = write_tries(tries, MOST)
        assert len(text) <= MOST
        assert read_tries(text)["a1"][-1] == f"try {number}"
        assert read_tries(text)["b2"][-2:] == [SHOWN, "2"]
    assert len(write_tries({"a1": ["x" * 300]}, MOST)) == MOST


def test_kept_tries_stay_where_the_address_is_an_earlier_one() -> None:
    kept = {"a1": ["8", SHOWN, "7"], "b2": ["1"], "c3": ["2"], "d4": ["5", "6"]}
    earlier = {"a1": ["8"], "c3": ["2", AGAIN], "d4": ["5", AGAIN], "e5": ["9"]}
    expected = {**kept, "c3": ["2", AGAIN], "e5": ["9"]}
    assert latest(kept, earlier) == expected
    assert latest(kept, {}) == kept
    assert latest(kept, {"a1": ["3"]})["a1"] == ["3"]  # of another address
