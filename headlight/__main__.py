"""The command `headlight`: one name for every command, each loaded only when it is called."""

import sys
from importlib.util import find_spec
from typing import NamedTuple

from headlight import __version__, packages


class Command(NamedTuple):
    """A module whose `main` takes the arguments and returns the exit status."""

    module: str
    summary: str
    extra: str = ""  # of the installation, without which it does not run


COMMANDS = {
    "app": Command("headlight.serve", "serve the app on http://localhost:8501", "app"),
    "translate": Command("transformer.__main__", "translate a sentence, or a file line by line"),
    "report": Command("viz.__main__", "write every head on one sentence as an HTML page"),
    "site": Command(
        "viz.site.__main__", "write a page with the model in it for any static host", "app"
    ),
    "lessons": Command(
        "viz.lessons.__main__", "write, check and print lessons; collect answers", "app"
    ),
    "download": Command("training.download.__main__", "download public parallel text", "train"),
    "prepare": Command("training.prepare", "tokenize text once for training", "train"),
    "train": Command("training.train", "train a model on parallel text", "train"),
    "average": Command("training.average", "average the last checkpoints of a run", "train"),
    "evaluate": Command("training.evaluate", "measure BLEU, alignment, heads and lenses", "train"),
}
HELP = "\n".join(
    [
        "usage: headlight [--help] [--version] COMMAND ...",
        "",
        "See what every attention head of a Transformer looks at, on your own sentence.",
        "",
        *(f"  {name:<11}{command.summary}" for name, command in COMMANDS.items()),
        "",
        "headlight COMMAND --help lists the options of a command.",
    ]
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is its own, or 2 if it cannot be run."""
    try:
        with packages.named_if_hidden():
            return _main(arguments)
    except packages.HiddenPackageError as error:
        print(f"headlight: {error}", file=sys.stderr)
        return 2


def _main(arguments: list[str] | None) -> int:
    if arguments is None:
        packages.load("transformer.cli.startup").begin()
    command = packages.load("transformer.cli.command")
    match sys.argv[1:] if arguments is None else arguments:
        case [name, *rest] if name in COMMANDS:
            return _run(name, rest)
        case [] | ["-h" | "--help", *_]:
            text = HELP
        case ["--version", *_]:
            text = f"headlight {__version__}"
        case [name, *_]:
            listed = ", ".join(COMMANDS)
            command.say(f"there is no command '{name}': choose one of {listed}.")
            return int(command.REFUSED)
    return int(command.run_guarded("headlight", lambda: print(text)))


def _run(name: str, arguments: list[str]) -> int:
    try:
        with packages.named_if_hidden():
            module = packages.load(COMMANDS[name].module)
            # the app's module imports it late, so that --help is fast
            if COMMANDS[name].extra == "app" and find_spec("streamlit") is None:
                raise ModuleNotFoundError(name="streamlit")
    except ModuleNotFoundError as error:
        command = packages.load("transformer.cli.command")
        command.say(packages.missing(name, error.name, COMMANDS[name].extra))
        return int(command.REFUSED)
    status: int = module.main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
