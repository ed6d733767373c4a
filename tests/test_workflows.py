"""The workflows of GitHub Actions: one per distribution, started by changes of what it is tested with."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = ROOT / ".github" / "workflows"
SHARED = {"noxfile.py", "pyproject.toml", ".github/workflows/session.yml"}
# The nox sessions of distributions: where each lies, and what is installed beside it.
SESSIONS = {
    "core": ("mindtorch_core", ()),
    "cpu": ("plugins/mindtorch-cpu", ("core",)),
    "meta": ("plugins/mindtorch-meta", ("core",)),
    "mpi": ("plugins/mindtorch-mpi", ("core", "cpu", "meta", "nn")),
    "nn": ("packages/mindtorch-nn", ("core", "cpu", "meta")),
    "mindtorch": ("packages/mindtorch", ("core", "cpu", "meta", "nn")),
    "torch": ("packages/mindtorch-torch", ("core", "cpu", "meta", "nn", "mindtorch")),
    "vision": ("packages/mindtorch-vision", ("core", "cpu")),
    "npu-simulator": ("plugins/mindtorch-npu-simulator", ()),
    "npu": ("plugins/mindtorch-npu", ("core", "cpu", "npu-simulator")),
    "acme": ("examples/mindtorch-acme", ("core", "cpu")),
    "zed": ("examples/mindtorch-zed", ("core", "cpu")),
}


def filters(text):
    """The path filters of a workflow, one list per event."""
    return [
        re.findall(r"- (\S+)", block)
        for block in re.findall(r"^    paths:\n((?:      - \S+\n)+)", text, re.M)
    ]


def test_every_session_of_a_distribution_has_a_workflow():
    named = re.findall(r'"(mindtorch(?:-[a-z-]+)?)"', (ROOT / "noxfile.py").read_text("utf-8"))
    assert {name.removeprefix("mindtorch-") for name in named} == set(SESSIONS)
    assert {f.stem for f in WORKFLOWS.glob("*.yml")} == {*SESSIONS, "all", "programs", "session"}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_workflow_runs_its_session(name):
    text = (WORKFLOWS / f"{name}.yml").read_text("utf-8")
    assert text.startswith(f"name: {name}\n\non:\n  push:\n    branches: [main]\n    paths:\n")
    assert text.endswith(
        "  pull_request:\n    paths:\n"
        + "".join(f"      - {path}\n" for path in filters(text)[1])
        + "\npermissions:\n  contents: read\n\njobs:\n  test:\n"
        f"    uses: ./.github/workflows/session.yml\n    with:\n      session: {name}\n"
    )


@pytest.mark.parametrize("name", SESSIONS)
def test_a_workflow_is_started_by_what_its_session_installs(name):
    pushed, proposed = filters((WORKFLOWS / f"{name}.yml").read_text("utf-8"))
    assert pushed == proposed
    folder, beside = SESSIONS[name]
    folders = {folder, *(SESSIONS[other][0] for other in beside)}
    assert {f"{f}/**" for f in folders} | SHARED | {f".github/workflows/{name}.yml"} <= set(pushed)
    for path in pushed:
        place = ROOT / path.removesuffix("/**")
        assert place.is_dir() if path.endswith("/**") else place.is_file(), path


def test_the_shared_workflow_takes_what_the_others_give():
    text = (WORKFLOWS / "session.yml").read_text("utf-8")
    assert re.search(r"^  workflow_call:\n    inputs:\n      session:\n(        .*\n)+", text, re.M)
    assert 'nox -s "${{ inputs.session }}"' in text


def test_one_workflow_runs_everything():
    assert "bash .ci/run" in (WORKFLOWS / "all.yml").read_text("utf-8")
    assert (ROOT / ".ci" / "run").is_file()
