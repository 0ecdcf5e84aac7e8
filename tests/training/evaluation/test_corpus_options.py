"""Both commands that measure on a corpus take the same options."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from training.evaluation import faithfulness, heads

MODULES = {"heads": heads, "faithfulness": faithfulness}


@pytest.mark.parametrize("name", MODULES)
def test_the_common_options_are_there_and_each_draws_its_own_number(name: str) -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for module in MODULES.values():
        module.add_arguments(commands)
    given = ["--src", "in.en", "--ref", "in.de", "--seed", "3", "--out", "o.json", "--json"]
    options = parser.parse_args([name, *given])
    assert (options.src, options.ref, options.out) == (*map(Path, ("in.en", "in.de", "o.json")),)
    assert (options.seed, options.json, options.checkpoint) == (3, True, None)
    assert options.sentences == MODULES[name].SENTENCES
    assert options.run is MODULES[name].run
    assert parser.parse_args([name, *given, "--sentences", "7"]).sentences == 7
