"""Paths of the files that are installed with the packages: weights, logs, the app's entry point.

A checkout, and an editable install of it, has them beside the packages. A wheel has them in the
folder `headlight/`, because the top of `site-packages` is shared with everybody's packages.
"""

from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2]
"""The folder that holds the packages: the checkout, or `site-packages`."""

_IN_WHEEL = PACKAGES / "headlight"
FILES = _IN_WHEEL if (_IN_WHEEL / "assets").is_dir() else PACKAGES
"""The folder that holds `app.py`, `.streamlit/` and `assets/`."""

ASSETS = FILES / "assets"
"""The bundled checkpoint, the rows of Table 3 and the small run that were trained here."""

BUNDLED = ASSETS / "model"  # the bundled checkpoint, English to German

REVERSE = ASSETS / "model-de-en"  # the bundled checkpoint of the other direction, German to English

FORMING = ASSETS / "forming"  # the bundled log and attention of a run, whose weights are not kept

BUNDLED_BY_NAME = {"bundled": BUNDLED, "bundled-de-en": REVERSE}
"""The bundled checkpoints by the names under which the app, commands and code offer them."""


def checkpoint_folder(folder: str | Path | None) -> Path:
    """Return a checkpoint folder, by its path or else by the name of a bundled one."""
    if folder is None:
        return BUNDLED
    path = Path(folder)
    bundled = BUNDLED_BY_NAME.get(str(folder))
    return path if bundled is None or path.exists() else bundled
