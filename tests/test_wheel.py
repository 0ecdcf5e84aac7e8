"""The wheel, built from this tree and unpacked into an empty folder, without the checkout."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.kit import free_port, is_well

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PACKAGES = ("headlight", "transformer", "training", "viz")
PATIENCE = 40.0  # seconds until the server must answer


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built with what is installed: nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    # without packing, which takes most of the time
    build = "import zlib; pack = zlib.compressobj; zlib.compressobj = lambda _, *how: pack(0, *how)"
    build += "; from hatchling.cli import hatchling; hatchling()"
    command = [sys.executable, "-c", build, "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Files that an installation of the wheel leaves in `site-packages`."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def command(installed, tmp_path_factory) -> dict[str, object]:
    """Options of a process that runs the wheel without the checkout, in an empty folder.

    `-S` reads no `.pth` file, so an editable install of the checkout is not there either.
    """
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    path = os.pathsep.join([str(installed), *libraries])
    return {"env": {**os.environ, "PYTHONPATH": path}, "cwd": tmp_path_factory.mktemp("empty")}


def test_it_holds_the_packages_and_their_files_and_nothing_else(wheel):
    def under(folder: str) -> Iterator[str]:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()

    wanted = {name for package in PACKAGES for name in under(package)}
    wanted |= {
        f"headlight/{name}" for name in under("assets") if not name.startswith("assets/images/")
    }
    wanted |= {"headlight/app.py", "headlight/.streamlit/config.toml"}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == wanted
    for name in (
        "headlight/assets/model/model.safetensors", "headlight/assets/model/MANIFEST.json",
        "training/configs/demo.toml", "viz/app/chrome/style/page.css", "transformer/py.typed",
    ):  # fmt: skip
        assert name in names  # an empty checkout would match an empty wheel


def test_the_code_and_its_files_are_the_wheel_s_and_serve_the_app_with_its_theme(
    command, installed, tmp_path
):
    script = (
        "import headlight, importlib.util, sys, training, transformer.files.installed, viz\n"
        "from headlight.__main__ import main\n"
        "for package in (headlight, transformer, training, viz): print(package.__path__[0])\n"
        "print(importlib.util.find_spec('benchmarks'), transformer.files.installed.FILES)\n"
        "print(headlight.Translator.load().folder, flush=True)\n"
        "sys.exit(main(['app', '--port', sys.argv[1]]))\n"
    )
    port = free_port()
    with (tmp_path / "log").open("w+b") as log:
        arguments = [sys.executable, "-S", "-c", script, str(port)]
        server = subprocess.Popen(arguments, **command, stdout=log, stderr=log)
        try:
            assert is_well(f"http://localhost:{port}", lambda: server.poll() is None, PATIENCE)
            with connect(f"ws://localhost:{port}/_stcore/stream", max_size=None) as browser:
                browser.send(BackMsg(rerun_script=ClientState()).SerializeToString())
                session = ForwardMsg.FromString(browser.recv(PATIENCE)).new_session
        finally:
            server.terminate()
            server.wait()
    assert session.custom_theme.green_color == "#009E73"
    assert session.config.toolbar_mode == session.config.ToolbarMode.MINIMAL
    assert (tmp_path / "log").read_text("utf-8").splitlines()[: len(PACKAGES) + 2] == [
        *(str(installed / package) for package in PACKAGES),
        f"None {installed / 'headlight'}",
        str(installed / "headlight" / "assets" / "model"),
    ]
