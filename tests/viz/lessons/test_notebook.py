import json
import re

from viz.lessons.grading import answer_key
from viz.lessons.notebook import notebook
from viz.notebook import HtmlFrame


def test_the_cells_compute_the_answers(lesson, bundled):
    key = list(answer_key(lesson, bundled))
    content = json.loads(notebook(lesson, key))
    assert content["cells"][0]["source"][0] == "# Köpfe \\<b\\>\\&amp;\n"
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    cells = content["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        assert re.fullmatch(r"[\w-]{1,64}", cell["id"])
        code = cell["cell_type"] == "code"
        further = {"outputs", "execution_count"} if code else set()
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | further

    namespace: dict = {}
    values = []
    for cell in cells:
        if cell["cell_type"] == "code":
            *lines, last = "".join(cell["source"]).splitlines()
            exec("\n".join(lines), namespace)
            values.append(eval(last, namespace))
    frames = [value for value in values if isinstance(value, HtmlFrame)]
    texts = [value for value in values if isinstance(value, str)]
    answers = [entry.answer.text for entry in key if entry.answer]
    # the translation of a sentence comes before the answers on it
    theirs, _, own, *_ = (entry.sentence.trace.target for entry in key if entry.sentence)
    assert own != theirs
    assert texts == [theirs, *answers[:2], own, answers[2], theirs, answers[3]]
    assert answers[:3] == ["horse", "7", "Eva"]
    assert len(frames) == 2
    source = "".join("".join(cell["source"]) for cell in cells)
    assert "selected=('cross', 3, 4)" in source
    assert "selected=('encoder_self', 1, None)" in source
