"""Fixtures of every test: home-made sentences, and a tiny model that was made from them.

No torch before it is asked for: the process that starts the workers would load it, too, first.
"""

import gc
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hypothesis
import pytest

if TYPE_CHECKING:
    from transformer import Tokenizer, Transformer, Translator

# the models are so small that a second thread would only wait; read once, where torch is loaded, in
# the processes that tests start too
os.environ["OMP_NUM_THREADS"] = "1"

# weights of a resumed run are equal to the bit on a CPU alone: a GPU adds in any order
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# the same examples in every run, however slow the machine
hypothesis.settings.register_profile("headlight", derandomize=True, deadline=None)
hypothesis.settings.load_profile("headlight")
# other examples in every run, and as many as tests/fuzz names: --hypothesis-profile=long
hypothesis.settings.register_profile("long", derandomize=False, deadline=None)


# modules and tests stay to the end, and are many: looking through them for garbage again and again
# took a fifteenth of the time
gc.set_threshold(10_000, 20, 50)


def pytest_collection_finish() -> None:
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a file with one worker, and a folder of files that share a browser and its servers."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            return str(Path(scope).parent) if scope.startswith("tests/browser/") else scope

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def _same_main() -> Iterator[None]:
    """AppTest leaves its script behind as the main module, which a new process would look for."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


class Pair(NamedTuple):
    """An English sentence and its German translation."""

    english: str
    german: str


SUBJECTS = [
    Pair("The dog", "Der Hund"),
    Pair("The old cat", "Die alte Katze"),
    Pair("A small bird", "Ein kleiner Vogel"),
    Pair("My brother", "Mein Bruder"),
    Pair("The tired teacher", "Die müde Lehrerin"),
    Pair("A green frog", "Ein grüner Frosch"),
    Pair("Our neighbour", "Unser Nachbar"),
    Pair("The baker", "Der Bäcker"),
    Pair("A quiet child", "Ein stilles Kind"),
    Pair("Her horse", "Ihr Pferd"),
]
VERBS = [
    Pair("sleeps", "schläft"),
    Pair("sings", "singt"),
    Pair("waits", "wartet"),
    Pair("eats", "frisst"),
    Pair("sits", "sitzt"),
]
PLACES = [
    Pair("under the table", "unter dem Tisch"),
    Pair("in the garden", "im Garten"),
    Pair("beside the river", "neben dem Fluss"),
    Pair("on the roof", "auf dem Dach"),
]


@pytest.fixture(scope="session")
def pairs() -> list[Pair]:
    """200 sentence pairs: ten subjects, five verbs, four places."""
    return [
        Pair(f"{s.english} {v.english} {p.english}.", f"{s.german} {v.german} {p.german}.")
        for s, v, p in itertools.product(SUBJECTS, VERBS, PLACES)
    ]


@pytest.fixture(scope="session")
def tokenizer(pairs) -> "Tokenizer":
    """A joint vocabulary so small that some words fall into several pieces."""
    from transformer import Tokenizer

    return Tokenizer.train([text for pair in pairs for text in pair], vocab_size=160)


@pytest.fixture(scope="session")
def model(tokenizer) -> "Transformer":
    """Random weights, two layers, four heads; shared by all tests, so nobody may change it."""
    import torch

    from transformer import Transformer, TransformerConfig
    from transformer.config import EOS

    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size, N=2, d_model=32, d_ff=64, h=4, max_length=256
    )
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(17)
        model = Transformer(config)
        for name, parameter in model.named_parameters():
            if "W_Q" in name or "W_K" in name:
                parameter.mul_(2)  # heads that prefer some tokens to others
            elif "cross_attention" in name:
                parameter.mul_(1.4)  # translations that differ where their sources do
        model.shared_embedding[4:].mul_(1.5)  # pieces that differ from each other
        # sentences that end: dimensions 8 and 9 are sin(pos / 10) and cos(pos / 10)
        model.shared_embedding[EOS, 8] += 3.6
        model.shared_embedding[EOS, 9] -= 3.6
    return model.eval()


@pytest.fixture(scope="session")
def checkpoint_folder(tmp_path_factory, model, tokenizer) -> Path:
    """The tiny model as a checkpoint folder; whoever wants to damage it takes a copy."""
    from transformer.checkpoints import checkpoint

    folder = tmp_path_factory.mktemp("checkpoint") / "model"
    checkpoint.save(folder, model, tokenizer)
    return folder


@pytest.fixture(scope="session")
def translator(checkpoint_folder) -> "Translator":
    """The tiny model, loaded the way people load theirs."""
    from transformer import Translator

    return Translator.load(checkpoint_folder)


@pytest.fixture(scope="session")
def bundled() -> "Translator":
    """The model that comes with Headlight."""
    from transformer import Translator

    return Translator.load()


@pytest.fixture(scope="session")
def reverse_bundled() -> "Translator":
    """The model that comes with Headlight for German to English."""
    from transformer import Translator
    from transformer.files.installed import BUNDLED_BY_NAME

    return Translator.load(next(path for path in BUNDLED_BY_NAME.values() if "de-en" in path.name))


@pytest.fixture(scope="session")
def reverse_folder(tmp_path_factory, checkpoint_folder) -> Path:
    """The tiny model as one that translates German to English."""
    from tests.reverse_model import write_reverse

    return write_reverse(checkpoint_folder, tmp_path_factory.mktemp("reverse") / "back")


@pytest.fixture(scope="session")
def reverse(reverse_folder) -> "Translator":
    """The model of `reverse_folder`, loaded."""
    from transformer import Translator

    return Translator.load(reverse_folder)
