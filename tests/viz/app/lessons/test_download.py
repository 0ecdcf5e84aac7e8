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


def test_a_choice_is_its_text_and_a_shown_answer_is_none(translator):
    lesson = read_lesson(ASSETS / "lessons" / "puzzles.en.md")
    marked = marked_answers(
        lesson,
        Progress(lesson.name, 0, ("?", "1", "", "2")),
        Sentence(translator, translator.trace("x")),
        "Eva",
    )
    texts = [[choice.text for choice in card.choices] for card in lesson.cards]
    right = ["".join(c.text for c in card.choices if c.right) for card in lesson.cards]
    assert marked.answers[0] is None
    assert marked.answers[1] == GivenAnswer(texts[1][0], right[1], texts[1][0] == right[1])
    assert marked.answers[2] is None
    assert marked.answers[3] == GivenAnswer(texts[3][1], right[3], texts[3][1] == right[3])
    assert set(marked.answers[4:]) == {None}
