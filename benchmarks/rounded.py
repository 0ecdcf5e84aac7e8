"""The weights of a page rounded to 8 bits: BLEU beside the exact ones, by the engine under node."""

import argparse
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import sacrebleu

from benchmarks.machine import describe
from transformer import Translator
from transformer.cli.arguments import whole_number
from transformer.errors import CheckpointError
from transformer.files.installed import BUNDLED, BUNDLED_BY_NAME
from viz.site.model_folder import model_files
from viz.site.serve import server_of

SCRIPT = Path(__file__).parents[1] / "tests" / "js" / "translate_lines.ts"


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks rounded`."""
    parser = commands.add_parser("rounded", help="BLEU of a page's weights in 8 bits")
    parser.add_argument("--src", type=Path, required=True, help="sentences, one per line")
    parser.add_argument("--ref", type=Path, required=True, help="their translations")
    parser.add_argument("--model", choices=BUNDLED_BY_NAME, default="bundled")
    parser.add_argument("--lines", type=whole_number(1), default=1000, help="the first ones")
    parser.add_argument("--weights", nargs="+", choices=("int8", "exact"), default=["int8"])
    parser.add_argument("--out", type=Path, required=True, help="a folder, which a later run ends")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Translate and print."""
    node = shutil.which("node")
    if node is None:
        raise CheckpointError("There is no node on this machine: install it to run the engine.")
    folder = options.out / options.model
    folder.mkdir(parents=True, exist_ok=True)
    translator = Translator.load(BUNDLED_BY_NAME.get(options.model, BUNDLED))
    for name, content in model_files(translator, int8=True).items():
        (folder / name).write_bytes(content)
    texts, references = (
        path.read_text("utf-8").split("\n")[: options.lines] for path in (options.src, options.ref)
    )
    source = folder / "source"
    source.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    print(f"{describe()}; {options.model}; {len(texts)} lines")
    with server_of(folder, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for weights in options.weights:
            out = folder / weights
            hook = (SCRIPT.parent / "typescript.mjs").as_uri()
            base = f"http://127.0.0.1:{server.server_port}"
            files = (str(source), str(out))
            subprocess.run([node, "--import", hook, str(SCRIPT), base, weights, *files], check=True)
            translated = out.read_text("utf-8").split("\n")[: options.lines]
            print(f"{weights}: {sacrebleu.corpus_bleu(translated, [references])}", flush=True)
        server.shutdown()
