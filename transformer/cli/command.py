"""Running of a command: an error is one signed sentence on standard error, and an exit status."""

import contextlib
import io
import os
import signal
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path

from transformer.cli.startup import INTERRUPTED
from transformer.errors import HeadlightError, InputError, one_line, unwritable, writing
from transformer.files.atomic import is_stream, require_room, write_file

REFUSED = 2  # exit status: something is wrong with what was asked

_signature = ContextVar("signature", default="headlight")  # the name of the command that runs


def main(
    parser: Callable[[], ArgumentParser], body: Callable[[Namespace], int | None]
) -> Callable[..., int]:
    """Make the `main` of a command, which has the name of its parser however it is started."""

    def main(arguments: list[str] | None = None) -> int:
        own = parser()
        options = own.parse_args(arguments)
        return run(own.prog, lambda: body(options))

    return main


def run(name: str, body: Callable[[], int | None]) -> int:
    """Run the body of a command and return its exit status; `say` signs with the name.

    Text is written as UTF-8 whatever the locale says, and the bytes of a path as they are. Ctrl-C
    and SIGTERM interrupt the body, which removes its temporary files.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    with _interruptible():
        return run_guarded(name, body)


def run_guarded(name: str, body: Callable[[], int | None]) -> int:
    """Run a body as `run` does, with the encoding and the signals as they are."""
    token = _signature.set(name)
    try:
        status = body() or 0
        if sys.stdout is not None:
            sys.stdout.flush()  # at exit it would be too late for a sentence
    except HeadlightError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            return 0  # the reader of a pipe has what it wanted
        say(str(error))
        return REFUSED
    except BrokenPipeError:
        _discard_output()  # the reader has what it wanted
        return 0
    except OSError as error:
        _discard_output()
        say(unwritable(error, "Standard output"))
        return REFUSED
    except KeyboardInterrupt as error:
        say("stopped.")
        return error.args[0] if error.args else INTERRUPTED
    finally:
        _signature.reset(token)
    return status


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Turn Ctrl-C or SIGTERM into an exception; the next one ends the process at once."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        before = {}  # no other thread may set a handler

    def interrupt(number: int, _: object) -> None:
        for caught in before:
            signal.signal(caught, signal.SIG_DFL)
        raise KeyboardInterrupt(128 + number)  # the exit status

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as in the background of a shell
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(sentence: str) -> None:
    """Print one line to standard error, if there is one, after the name of the command."""
    with contextlib.suppress(OSError):  # a full disk, a reader who has left
        if sys.stderr is not None:
            print(one_line(f"{_signature.get()}: {sentence}"), file=sys.stderr)


def require_place(path: Path) -> None:
    """Refuse an output file that cannot be written, before its content is computed."""
    with writing(path, InputError):
        if path.is_dir():
            raise InputError(f"{path} is a folder: name the file to write.")
        folder = path.resolve().parent  # a link is followed
        if not is_stream(path):
            if not folder.is_dir():
                raise InputError(f"{path} cannot be written: there is no folder {folder}.")
            require_room(folder)


def save(path: Path, text: str) -> None:
    """Write the text of a command to a file; a character that cannot be written is ?."""
    with writing(path, InputError):
        write_file(path, text.encode("utf-8", errors="replace"))


def _discard_output() -> None:
    """Redirect standard output to the null device: the flush at exit would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
