from transformer.files.installed import ASSETS
from viz.app.lessons.download import marked_answers
from viz.app.lessons.progress import Progress
from viz.lessons import read_lesson
from viz.lessons.answers import GivenAnswer, read_answers, write_answers


def test_the_file_has_the_answers_on_the_reader_s_sentence(translator, tmp_path):
    lesson = read_lesson(ASSETS / "lessons" / "attention.en.md")
    place = Progress(lesson.name, 1, (" 5 ", "2"))
    source = "The dog sleeps."
    pieces = str(len(translator.trace(source).source_pieces))
    marked = marked_answers(lesson, place, translator, source, "Eva")
    # no “Pferd” in this sentence, so the second card cannot be asked
    assert marked.answers[:2] == (GivenAnswer(" 5 ", pieces, pieces == "5"), None)
    path = tmp_path / "answers.json"
    path.write_bytes(write_answers(marked))
    assert read_answers(path) == marked
    assert (marked.lesson_sha256, marked.sentence) == (lesson.checksum, source)


def test_a_choice_is_its_text_and_a_shown_answer_is_none(translator):
    lesson = read_lesson(ASSETS / "lessons" / "puzzles.en.md")
    marked = marked_answers(
        lesson, Progress(lesson.name, 0, ("?", "1", "", "2")), translator, "x", "Eva"
    )
    texts = [[choice.text for choice in card.choices] for card in lesson.cards]
    right = ["".join(c.text for c in card.choices if c.right) for card in lesson.cards]
    assert marked.answers[0] is None
    assert marked.answers[1] == GivenAnswer(texts[1][0], right[1], texts[1][0] == right[1])
    assert marked.answers[2] is None
    assert marked.answers[3] == GivenAnswer(texts[3][1], right[3], texts[3][1] == right[3])
    assert set(marked.answers[4:]) == {None}
