"""Lessons: cards beside the pages, read from Markdown files, with answers from the live model."""

from viz.lessons.lesson import Card, Choice, Lesson, View
from viz.lessons.reading import LessonError, read_lesson

__all__ = ["Card", "Choice", "Lesson", "LessonError", "View", "read_lesson"]
