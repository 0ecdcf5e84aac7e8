"""Texts around the cards of a lesson and in its handout, in each language of lessons."""

from collections.abc import Mapping
from typing import get_args

from viz.lessons.lesson import Card, Language

_TEXTS = {
    "card": ("Card {number} of {count}", "Karte {number} von {count}"),
    "class": ("For a class", "Für die Klasse"),
    "shared": (
        "Everyone who opens this link has this lesson, and its sentence.",
        "Wer diesen Link öffnet, hat diese Lektion und ihren Satz.",
    ),
    "alone": (
        "Only this computer can open {host}. Start the app with `--host 0.0.0.0`, and open it at "
        "the address that it prints.",
        "Nur dieser Computer kann {host} öffnen. Starte die App mit `--host 0.0.0.0` und öffne sie "
        "unter der Adresse, die sie ausgibt.",
    ),
    "time": ("Minutes (0: no clock)", "Minuten (0: keine Uhr)"),
    "over": ("Time is up.", "Die Zeit ist um."),
    "lock": ("Hide “Show the answer”", "„Antwort zeigen“ ausblenden"),
    "collect": ("Collect answers", "Antworten einsammeln"),
    "files": (
        "Files that students have downloaded. They are read and not kept.",
        "Dateien, die Lernende heruntergeladen haben. Sie werden gelesen und nicht behalten.",
    ),
    "marks": (
        "✓ right, ✓3 at the third try, ✗ wrong, ? answer shown, – not tried",
        "✓ richtig, ✓3 beim dritten Versuch, ✗ falsch, ? Antwort gezeigt, – nicht versucht",
    ),
    "name": ("Name", "Name"),
    "rights": ("Right", "Richtig"),
    "column": ("Card", "Karte"),
    "firsts": ("At the first try", "Beim ersten Versuch"),
    "showns": ("Shown", "Gezeigt"),
    "mistake": ("Most frequent mistake", "Häufigster Fehler"),
    "made_by": ("Made by", "Gemacht von"),
    "table": ("Download the table", "Tabelle herunterladen"),
    "leave": ("End", "Ende"),
    "goal": ("Goal", "Ziel"),
    "minutes": ("{minutes} minutes", "{minutes} Minuten"),
    "text": ("Text", "Text"),
    "end": ("End the lesson", "Lektion beenden"),
    "back": ("Back", "Zurück"),
    "next": ("Next", "Weiter"),
    "open": ("Open this view", "Diese Ansicht öffnen"),
    "without": ("The translation after the removal", "Die Übersetzung nach dem Entfernen"),
    "opened": ("It is open.", "Sie ist geöffnet."),
    "answer": ("Your answer", "Deine Antwort"),
    "check": ("Check", "Prüfen"),
    "show": ("Show the answer", "Antwort zeigen"),
    "again": ("Try again", "Noch einmal"),
    "right": ("Right: {answer}.", "Richtig: {answer}."),
    "wrong": ("Not quite.", "Nicht ganz."),
    "hint": (
        "Open the view, look at what is highlighted, and try again.",
        "Öffne die Ansicht, schau auf die markierte Stelle und versuch es noch einmal.",
    ),
    "look": ("Look again, and try again.", "Schau noch einmal hin und versuch es noch einmal."),
    "shown": ("It is {answer}.", "Es ist {answer}."),
    "wait": ("The answer comes with the translation.", "Die Antwort kommt mit der Übersetzung."),
    "first": ("This card is about “{sentence}”", "Diese Karte gilt dem Satz „{sentence}“"),
    "skipped": (
        "This question does not fit this sentence or model. {problem}",
        "Diese Frage passt nicht zu diesem Satz oder Modell. {problem}",
    ),
    "model": (
        "This lesson is written for the bundled model. With yours, answers can differ.",
        "Für das mitgelieferte Modell geschrieben. Bei diesem können Antworten abweichen.",
    ),
    "sentence": ("Use that sentence", "Diesen Satz nehmen"),
    "blank": ("Give an answer first.", "Gib erst eine Antwort."),
    "number": (
        "That is not a number. Type digits, such as 7 or 0.67.",
        "Das ist keine Zahl. Schreib Ziffern, etwa 7 oder 0,67.",
    ),
    "uncounted": (
        "You have seen the answer, so this card does not count as right.",
        "Du hast die Antwort schon gesehen: Diese Karte zählt nicht als richtig.",
    ),
    "predict": (
        "First your answer, then the pictures.",
        "Erst deine Antwort, dann die Bilder.",
    ),
    "score": ("You have {right} of {count} right.", "Du hast {right} von {count} richtig."),
    "at_once": ("{right} at the first try.", "{right} beim ersten Versuch."),
    "reader": ("Your name", "Dein Name"),
    "download": ("Download your answers", "Antworten herunterladen"),
    # of a file of saved views: the question and the answers are for the author to replace
    "saved": ("Saved views", "Gespeicherte Ansichten"),
    "ask": ("What do you see here?", "Was siehst du hier?"),
    "right_choice": ("the right answer", "die richtige Antwort"),
    "wrong_choice": ("a wrong answer", "eine falsche"),
    # of the handout
    "source": ("Sentence", "Satz"),
    "link": ("Open", "Öffne"),
    "solution": ("Answer", "Antwort"),
    "solutions": ("Answers", "Lösungen"),
    "notes": ("For the teacher", "Für die Lehrkraft"),
    "own": ("Depends on your sentence.", "Hängt von deinem Satz ab."),
    "computed": ("Answers computed with {model}", "Lösungen berechnet mit {model}"),
}
TEXTS: dict[Language, dict[str, str]] = {
    language: {name: texts[number] for name, texts in _TEXTS.items()}
    for number, language in enumerate(get_args(Language))
}


def hint(card: Card, texts: Mapping[str, str]) -> str:
    """Return what follows a wrong answer: the hint of a card, or what holds for each card."""
    return card.hint or texts["hint" if card.view and card.light else "look"]
