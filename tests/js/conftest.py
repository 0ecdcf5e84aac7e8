"""Node with its hook for TypeScript, for all tests that start it."""

import os
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ESBUILD = HERE.parents[1] / "node_modules" / "esbuild"  # takes the types out of what node loads


@pytest.fixture(scope="session")
def node() -> list[str]:
    """The command, without which tests are skipped, or fail where HEADLIGHT_REQUIRE_NODE=1."""
    if (path := shutil.which("node")) and ESBUILD.is_dir():
        return [path, "--import", (HERE / "typescript.mjs").as_uri()]
    message = "no node on this machine, or not its packages (npm ci)"
    if os.environ.get("HEADLIGHT_REQUIRE_NODE") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
