from transformer.files.installed import ASSETS
from viz.app.lessons.panel import marked_answers
from viz.app.lessons.progress import Progress
from viz.lessons import read_lesson
from viz.lessons.answers import GivenAnswer, read_answers, write_answers
from viz.lessons.measures import Sentence


def test_an_answer_is_marked_on_the_sentence_of_its_card(translator, tmp_path):
    lesson = read_lesson(ASSETS / "lessons" / "attention.en.md")
    own = Sentence(translator, translator.trace("The dog sleeps."))
    given, right = [], {}
    for number, text in ((0, lesson.sentence), (6, own.trace.source)):
        trace = translator.trace(text)
        pieces = trace.source_pieces if number == 0 else trace.target_pieces
        right[number] = str(len(pieces))
    given = [right[0], "", "", "", "", "", right[6]]
    place = Progress(lesson.name, 6, tuple(given))
    source = own.trace.source
    marked = marked_answers(lesson, place, own, "Eva")
    for number, text in right.items():
        assert marked.answers[number] == GivenAnswer(text, text, True)
    assert marked.right == 2
    path = tmp_path / "answers.json"
    path.write_bytes(write_answers(marked))
    assert read_answers(path) == marked
    assert (marked.lesson_sha256, marked.sentence) == (lesson.checksum, source)
