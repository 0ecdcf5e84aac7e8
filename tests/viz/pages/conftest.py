"""The app on a small trained model, for all tests of this folder."""

from tests.viz.app_test import given_translations, serve, translator, unsure_model
from tests.viz.trained_model import trained_folder

__all__ = [  # fixtures: used by name
    "given_translations",
    "serve",
    "trained_folder",
    "translator",
    "unsure_model",
]
