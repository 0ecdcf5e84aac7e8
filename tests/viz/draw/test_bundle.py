import re

import pytest

from viz.draw.bundle import script

MODULES = ["mask_grids.js"]


@pytest.mark.parametrize("name", MODULES)
def test_a_bundle_stands_alone_and_lends_out_only_its_own_names(name):
    text = script(name)
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert re.findall(r"^export (.*?)\(", text, re.MULTILINE) == [
        "function render",
        "default function streamlit",
    ]


@pytest.mark.parametrize("name", MODULES)
def test_each_module_of_a_bundle_is_there_once_in_a_scope_of_its_own(name):
    top = re.findall(r"^const (module_\w+) = ", script(name), re.MULTILINE)
    assert top[0] == "module_shared"  # what others need comes first
    assert len(top) == len(set(top)) > 3
    for used in re.findall(r"\} = (module_\w+);", script(name)):
        assert used in top
