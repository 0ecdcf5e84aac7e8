"""From parallel text to a checkpoint (§5)."""

import sys

# argv[0] is "-m" as long as Python looks for the module of `python -m training.…`
if sys.argv[:1] == ["-m"]:
    print(
        "headlight: the commands of training are those of headlight: run headlight --help.",
        file=sys.stderr,
    )
    sys.exit(2)
