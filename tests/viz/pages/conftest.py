"""The app on a small trained model, for all tests of this folder."""

from tests.viz.app_test import given_translations, serve, translator
from tests.viz.taught import taught_folder

__all__ = ["given_translations", "serve", "taught_folder", "translator"]  # fixtures: used by name
