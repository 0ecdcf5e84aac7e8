import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from uvicorn.middleware.proxy_headers import _TrustedHosts

from headlight import serve

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs/guides/deploy.md").read_text("utf-8").partition("## All settings")[2]
PROGRAM = ["transformer", "training", "viz", "headlight", "app.py"]


def test_the_table_of_settings_has_every_variable_that_the_program_reads():
    files = subprocess.run(
        ["git", "ls-files", *(f"{name}/*.py" for name in PROGRAM[:-1]), "app.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    read = {
        name
        for file in files
        for name in re.findall(r'"(HEADLIGHT_[A-Z_]+\b)', (ROOT / file).read_text("utf-8"))
    }
    assert len(read) > 5
    assert set(re.findall(r"`(HEADLIGHT_\w+)`", GUIDE)) == read


def test_the_table_of_settings_has_every_option_and_its_default(monkeypatch):
    monkeypatch.delenv("PORT", raising=False)
    options = set(re.findall(r"`(--[a-z]+)`", GUIDE))
    actions = [action for action in serve._parser()._actions if action.dest != "help"]
    assert options == {name for action in actions for name in action.option_strings}
    rows = {row.split("|")[2].strip(" `"): row for row in GUIDE.splitlines() if "| `--" in row}
    for action in actions:
        assert action.default is None or str(action.default) in rows[action.option_strings[0]]


def test_the_image_gets_all_that_the_package_is_made_of():
    lines = (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8").splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {line[1:] for line in lines if line.startswith("!")} == {
        "pyproject.toml",
        "constraints.txt",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *(path.partition("/")[0] for path in wheel["only-include"]),
        *wheel["force-include"],
    }


@pytest.mark.parametrize(
    ("proxy", "trusted"),
    [
        ("172.17.0.1", True),  # Docker's bridge
        ("172.31.4.2", True),  # a network of Compose
        ("10.20.3.4", True),  # a Space of Hugging Face, Kubernetes
        ("192.168.1.20", False),  # somebody in the room
        ("203.0.113.9", False),
    ],
)
def test_a_container_takes_the_address_of_a_client_from_its_proxy_alone(proxy, trusted) -> None:
    image = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    (networks,) = re.findall(r"FORWARDED_ALLOW_IPS=(\S+)", image)
    assert (proxy in _TrustedHosts(networks)) == trusted
    # the containers of Compose, behind HAProxy, have the same
    assert "FORWARDED_ALLOW_IPS" not in (ROOT / "deploy/compose.yaml").read_text("utf-8")
    assert all(network in GUIDE for network in networks.split(",") if "/" in network)
