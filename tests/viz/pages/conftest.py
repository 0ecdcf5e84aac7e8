"""The app on a small trained model, for all tests of this folder."""

from tests.viz.app_test import given_translations, serve, translator
from tests.viz.trained_model import trained_folder

__all__ = ["given_translations", "serve", "trained_folder", "translator"]  # fixtures: used by name
