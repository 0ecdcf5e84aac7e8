"""From parallel text to a checkpoint (§5)."""

import sys
from importlib.util import find_spec

from transformer.cli import startup

startup.begin_module()
# argv[0] is "-m" as long as Python looks for the module of `python -m training.…`; a plain install
# has what app, translate and report need, and that is enough to average
needs_more = sys.argv[:1] == ["-m"] and "training.average" not in sys.orig_argv
for name in ("tqdm", "sacrebleu") if needs_more else ():
    if find_spec(name) is None:
        print(
            f"headlight: training needs {name}, which is not installed: "
            "run pip install 'headlight-attention[train]'.",
            file=sys.stderr,
        )
        sys.exit(2)
