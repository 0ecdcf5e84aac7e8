"""Processes that begin with the slow imports behind them.

One list for all, because there is one fork server in a process: who asks first starts it.
"""

import multiprocessing
from multiprocessing.context import ForkServerContext

from viz.draw.labels import PAGE_TITLES

TRAINING = ["training.train", "torch._dynamo", "torch.distributed"]  # Adam imports _dynamo
SERVING = [
    "streamlit.web.cli",
    "streamlit.web.server.starlette.starlette_server",
    "altair",
    "anyio._backends._asyncio",
    "transformer.translator",
    "viz.app.served",
    "viz.app.lessons.library",
    "viz.app.lessons.panel",
    "viz.app.links.address",
    *(f"viz.pages.{path}" for path in PAGE_TITLES),
]


def forkserver() -> ForkServerContext:
    """Starts processes that have the slow imports behind them."""
    context = multiprocessing.get_context("forkserver")
    modules = ["tests.collector_off", *TRAINING, *SERVING, "tests.collector_on"]
    context.set_forkserver_preload(modules)
    return context
