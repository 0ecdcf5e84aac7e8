"""Hostile inputs at every entrance of the program: `python -m benchmarks campaign`.

Each entrance is a module with `run(count, seed)`, which tries that many inputs and yields an
`Outcome` for each.
"""
