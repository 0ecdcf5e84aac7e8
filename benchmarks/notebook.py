"""BertViz's own examples in BertViz and here: size of an output, and seconds until it is drawn.

The models are those of BertViz's examples, with random weights, wide enough that heads are sharp.
Every line of `notebook.md` is run, too. Both sides draw the same arrays in the same Chromium, in
turns. The libraries that BertViz's pages load from a CDN come from this machine, so no network is
in its figures; without them only its bytes are measured.
"""

import argparse
import contextlib
import math
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from benchmarks import bertviz
from benchmarks.browser import chromium
from benchmarks.machine import describe, spread
from transformer import AttentionTrace, HeadlightError
from transformer.cli.arguments import whole_number
from viz.notebook import HtmlFrame, explore
from viz.report import report
from viz.site.serve import server_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAIR = ("The cat sat on the mat", "The old cat lay on the rug")
SOURCE, TARGET = "She sees the small elephant .", "Sie sieht den kleinen Elefanten ."
LAYERS = HEADS = 12
SPREAD = 0.15  # standard deviation of the weights
WORDS = tuple(f"w{a}{b}" for a in "bdfgjklpqruvxz" for b in "bdfgjklpqruvxz")
"""Words that every tokenizer of this module knows; a longer text repeats them."""
PATIENCE = 120.0  # seconds after which a picture counts as not drawn
LONG = 15.0  # seconds of drawing after which it is not done again
PAGE = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{}</body>"
# A canvas in a frame that is drawn on, or the lines of an SVG: what is there when a frame begins is
# on the screen when the next one begins. Both sides are looked for alike, by one clock.
NOTE = """
if (top === window) {
  window.onCanvas = false;
  const there = () => window.onCanvas || document.querySelector("svg line");
  const look = () => requestAnimationFrame(there() ? seen : look);
  const seen = () => (window.firstPicture = performance.now());
  look();
} else {
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ["fillRect", "fillText", "drawImage", "putImageData", "stroke", "fill"]) {
    const draw = canvas[name];
    canvas[name] = function () {
      if (this.canvas.isConnected) top.onCanvas = true;
      return draw.apply(this, arguments);
    };
  }
}"""


class Made(NamedTuple):
    """Variables of a person's notebook after running a model on a batch of one."""

    tokenizer: Any
    inputs: Any
    model: Any
    outputs: Any


def filler(n: int) -> str:
    """A text of n words, each a token of its own."""
    return " ".join(WORDS[i % len(WORDS)] for i in range(n))


def _tokenizer(single: str, pair: str | None = None) -> Any:
    """A tokenizer of whole words that puts special tokens around a text, or two."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ("<pad>", "</s>", "<unk>", "[CLS]", "[SEP]")
    words = dict.fromkeys([*special, *" ".join([*PAIR, SOURCE, TARGET]).split(), *WORDS])
    numbers = {word: n for n, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, numbers[name]) for name in special]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        cls_token="[CLS]", sep_token="[SEP]",
    )  # fmt: skip


def bert(*texts: str) -> Made:
    """An encoder that reads one text or a pair."""
    tokenizer = _tokenizer("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return _run(
        "Bert", "Model", tokenizer, tokenizer(*texts, return_tensors="pt"),
        hidden_size=16 * HEADS, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=64, initializer_range=SPREAD,
    )  # fmt: skip


def gpt2(text: str) -> Made:
    """A decoder alone."""
    tokenizer = _tokenizer("$A")
    return _run(
        "GPT2", "LMHeadModel", tokenizer, tokenizer(text, return_tensors="pt"),
        n_embd=16 * HEADS, n_layer=LAYERS, n_head=HEADS, bos_token_id=0, eos_token_id=0,
        initializer_range=SPREAD,
    )  # fmt: skip


def t5(source: str, target: str) -> Made:
    """An encoder and a decoder; `decoder_input_ids` of the inputs is the target, shifted right."""
    tokenizer = _tokenizer("$A </s>")
    inputs = tokenizer(source, return_tensors="pt", return_token_type_ids=False)
    inputs["decoder_input_ids"] = torch.tensor([[0, *tokenizer(target).input_ids[:-1]]])
    return _run(
        "T5", "ForConditionalGeneration", tokenizer, inputs,
        d_model=16 * HEADS, d_kv=16, d_ff=64, num_layers=LAYERS, num_heads=HEADS,
        initializer_factor=1.5, decoder_start_token_id=0,
    )  # fmt: skip


@torch.no_grad()
def _run(name: str, head: str, tokenizer: Any, inputs: Any, **fields: Any) -> Made:
    import transformers

    # attention that is not fused, so that its weights are there
    config = getattr(transformers, f"{name}Config")(
        attn_implementation="eager", vocab_size=len(tokenizer), **fields
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}{head}")(config).eval()
    return Made(tokenizer, inputs, model, model(**inputs, output_attentions=True))


MODELS: dict[str, Callable[[], Made]] = {
    "bert": lambda: bert(PAIR[0]),
    "pair": lambda: bert(*PAIR),
    "gpt2": lambda: gpt2(PAIR[0]),
    "t5": lambda: t5(SOURCE, TARGET),
}


def variables(made: Made) -> dict[str, Any]:
    """Return what a person has in the notebook before either line."""
    names = {"inputs": made.inputs, "outputs": made.outputs, "tokenizer": made.tokenizer}
    tokens = made.tokenizer.convert_ids_to_tokens(made.inputs["input_ids"][0].tolist())
    names.update(tokens=tokens, encoder_tokens=tokens)
    if "decoder_input_ids" in made.inputs:
        read = made.inputs["decoder_input_ids"][0].tolist()
        names["decoder_tokens"] = made.tokenizer.convert_ids_to_tokens(read)
        names["generated"] = made.model.generate(
            input_ids=made.inputs["input_ids"],
            max_new_tokens=12,
            output_attentions=True,
            return_dict_in_generate=True,
        )
        return names
    names["trace"] = AttentionTrace.from_huggingface(made.outputs, tokens)
    if names["trace"].encoder_self.size:
        names["arrays"] = names["trace"].encoder_self
        names["sentence_b_start"] = tokens.index("[SEP]") + 1
    return names


def _ours(line: str, names: dict[str, Any]) -> Any:
    """The value of a line that is written here."""
    own = {"explore": explore, "AttentionTrace": AttentionTrace, "report": report, "Path": Path}
    return eval(line, {**own, **names})


def _theirs(line: str, names: dict[str, Any]) -> str:
    """Return what a line for BertViz hands to the notebook, as HTML."""
    with bertviz.displayed() as shown:
        eval(line, {**bertviz.views(), "torch": torch, "Path": Path, **names})
    return "".join(shown)


class Line(NamedTuple):
    """A wish, a name of `MODELS`, and the lines for it; BertViz has no line for some."""

    wish: str
    model: str
    theirs: str
    ours: str


LINES = [
    Line(*(cell.strip("`") for cell in row.strip("| ").split(" | ")))
    for row in Path(__file__).with_suffix(".md").read_text("utf-8").splitlines()
    if row.endswith("` |")
]


def check(line: Line, names: dict[str, Any]) -> None:
    """Run both in the current folder."""
    value = _ours(line.ours, names)
    shown = value._repr_html_() if isinstance(value, HtmlFrame) else ""
    if not (shown if line.ours.startswith("explore") else _written(value)):
        raise HeadlightError(f"{line.ours} shows nothing.")
    if line.theirs == "not there":
        return
    saved = line.theirs.startswith("Path")
    if not (_theirs(line.theirs, names) or (saved and _written(1))):
        raise HeadlightError(f"{line.theirs} shows nothing.")


def _written(value: Any) -> bool:
    """Return whether a file was written, or these are numbers; the file is taken away."""
    path = Path("heads.html")
    if not path.exists():
        return hasattr(value, "sum") and bool(value.sum() > 0)
    written = path.stat().st_size > 1000
    path.unlink()
    return written


ALONE = "outputs.attentions, tokens"
ENCODER_DECODER = (
    "encoder_attention=outputs.encoder_attentions, decoder_attention=outputs.decoder_attentions, "
    "cross_attention=outputs.cross_attentions, encoder_tokens=encoder_tokens, "
    "decoder_tokens=decoder_tokens"
)
EXPLORE = "explore(AttentionTrace.from_huggingface(outputs, tokens))"
EXPLORE_BOTH = "explore(AttentionTrace.from_huggingface(outputs, encoder_tokens, decoder_tokens))"


def _cases(lengths: Sequence[int]) -> Iterator[tuple[str, Made, str, str]]:
    """BertViz's examples, then 12 layers of 12 heads over more and more tokens.

    With each its title, the arguments of BertViz's views, and our line.
    """
    yield "BERT, a sentence pair", MODELS["pair"](), f"{ALONE}, sentence_b_start", EXPLORE
    yield "GPT-2", MODELS["gpt2"](), ALONE, EXPLORE
    yield "T5, all three kinds", MODELS["t5"](), ENCODER_DECODER, EXPLORE_BOTH
    for n in lengths:
        yield "BERT", bert(filler(n - 2)), ALONE, EXPLORE
    for n in lengths:
        made = t5(filler(n - 1), filler(n - 1))
        yield "T5, all three kinds", made, ENCODER_DECODER, EXPLORE_BOTH


@contextmanager
def _served(files: Mapping[str, bytes]) -> Iterator[tuple[str, Path]]:
    """Serve files on a free port; a context manager that gives its address and their folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with server_of(Path(folder), 0) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}", Path(folder)
            server.shutdown()


def draw(browser: Any, output: str, files: Mapping[str, bytes]) -> float:
    """Open a page with one output, HTML, in a fresh tab; return the seconds to its first picture.

    The page finds the files, scripts of the CDN, on this machine.
    """
    from playwright.sync_api import Error

    with _served(files) as (address, folder):
        own = output.replace(bertviz.CDN, address)
        (folder / "cell.html").write_text(PAGE.format(own), "utf-8")
        page: Page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(NOTE)
        try:
            page.goto(f"{address}/cell.html", wait_until="commit")
            page.wait_for_function("window.firstPicture", timeout=PATIENCE * 1000)
            return float(page.evaluate("window.firstPicture")) / 1000
        except Error as error:  # not drawn in time, or the tab has run out of memory
            if "Timeout" not in str(error) and "crash" not in str(error).lower():
                raise
            return math.inf
        finally:
            page.close()


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks notebook`."""
    parser = commands.add_parser("notebook", help="BertViz's examples there and here, in Chromium")
    parser.add_argument("--tokens", type=whole_number(3), nargs="*", default=[20, 64, 128])
    parser.add_argument("--turns", type=whole_number(1), default=3)
    parser.add_argument(
        "--libraries", type=Path, metavar="DIR", help=f"for BertViz's pages: {bertviz.INSTALL}"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run every line of the table, measure, and print."""
    files = bertviz.libraries(options.libraries) if options.libraries else {}
    print(describe())
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        names = {name: variables(make()) for name, make in MODELS.items()}
        for line in LINES:
            check(line, names[line.model])
    print(f"{len(LINES)} lines of {Path(__file__).with_suffix('.md')}, all of them run")
    with chromium() as browser:
        print(f"Chromium {browser.version}, headless")
        for case in _cases(options.tokens):
            _print_case(browser, *case, files, options.turns)


def _print_case(
    browser: Any, title: str, made: Made, arguments: str, line: str, files: Any, turns: int
) -> None:
    """Draw each view in turn, so that what else the machine does falls on all of them."""
    names = variables(made)
    outputs = {view: _theirs(f"{view}({arguments})", names) for view in bertviz.VIEWS}
    outputs["explore"] = str(_ours(line, names)._repr_html_())
    drawn: dict[str, list[float]] = {view: [] for view in outputs}
    for _ in range(turns):
        for view, seconds in drawn.items():
            if (files or view == "explore") and (not seconds or seconds[-1] < LONG):
                seconds.append(draw(browser, outputs[view], files))
    print(f"{title}, {len(names['tokens'])} tokens")
    for view, seconds in drawn.items():
        when = f"first picture after: {spread(seconds)}" if seconds else "not drawn: no --libraries"
        if seconds and math.isinf(statistics.median(seconds)):
            when = f"nothing drawn within {PATIENCE:.0f} s"
        print(f"  {view}: {len(outputs[view].encode()) / 1e6:.2f} MB, {when}", flush=True)
