"""Import of our packages, unless a file beside somebody's program hides one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parents[1]  # that holds all of them
_OURS = ("transformer", "viz", "training")
_OTHERS = ("torch", "numpy", "pandas", "streamlit", "altair", "plotly", "sentencepiece")


class HiddenPackageError(ImportError):
    """A package that another file or folder of its name hides."""


def load(module: str) -> ModuleType:
    """Import a module of ours; a file that hides it is not run.

    Raises:
        HiddenPackageError: naming the file or folder.
    """
    package = module.partition(".")[0]
    for name in _OURS:
        # the app needs all of them, on one page or another
        if package == "headlight" or name in ("transformer", package):
            require_visible(name)
    return import_module(module)


@contextmanager
def named_if_hidden() -> Iterator[None]:
    """Turn an error into HiddenPackageError if a package is hidden; a context manager."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        for name in (error.name or "", *_OTHERS):
            require_visible(name)
        raise


def require_visible(module: str) -> None:
    """Raise HiddenPackageError if the package of a module is hidden.

    A package that is not ours can be anywhere, but not in the folder where Python was started.
    """
    package, origin = module.partition(".")[0], None
    with suppress(ValueError):  # a module without a specification, or without a name
        origin = getattr(find_spec(package), "origin", None)
    if origin is None or not Path(origin).exists():
        return
    path = Path(origin)
    path = path.parent if path.name == "__init__.py" else path
    if package in _OURS:
        is_hidden = not path.parent.samefile(_FOLDER)
    else:
        is_hidden = path.parent in {Path.cwd(), *map(Path, sys.path[:1])}
    if is_hidden:
        raise HiddenPackageError(
            f"{path} hides the package {package}, which Headlight needs: rename it, and start "
            f"Python again.",
            name=package,
        )
