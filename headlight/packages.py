"""Import of our packages, unless a file beside somebody's program hides one."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_OURS = ("transformer", "viz", "training")
_OTHERS = ("torch", "numpy", "pandas", "streamlit", "altair", "plotly", "sentencepiece")


class HiddenPackageError(ImportError):
    """A package that a file or folder of its name hides, which the sentence names."""


def load(module: str) -> ModuleType:
    """Import a module of ours, or raise HiddenPackageError without running what hides it."""
    package = module.partition(".")[0]
    # the app needs all of them, on one page or another
    _require_visible(_OURS if package == "headlight" else {"transformer", package} & {*_OURS})
    return import_module(module)


@contextmanager
def named_if_hidden() -> Iterator[None]:
    """Turn an error into HiddenPackageError if a package is hidden; a context manager."""
    try:
        yield
    except (ImportError, AttributeError):
        _require_visible((*_OURS, *_OTHERS))
        raise


def missing(needing: str, package: str | None, extra: str) -> str:
    """Return a sentence on a package that an extra of the installation has."""
    whole = f"headlight-attention[{extra}]" if extra else "headlight-attention"
    return f"{needing} needs {package}, which is not installed: run pip install '{whole}'."


def _require_visible(packages: Iterable[str]) -> None:
    ours, start = Path(__file__).parents[1], {Path.cwd(), *map(Path, sys.path[:1])}
    for package in packages:
        path = Path(getattr(find_spec(package), "origin", None) or ours / package)
        path = path.parent if path.name == "__init__.py" else path
        folder = path.parent
        # the packages of others can be anywhere but where Python was started
        if not folder.samefile(ours) if package in _OURS else folder in start - {ours}:
            raise HiddenPackageError(
                f"{path} hides the package {package}, which Headlight needs: rename it, and start "
                f"Python again."
            )
