"""The workflows of GitHub Actions: one per distribution, started by changes of what it is tested with."""

import importlib.util
import re
import tomllib
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
    "mpi": ("plugins/mindtorch-mpi", ("core", "cpu", "meta", "nn", "mindtorch")),
    "nn": ("packages/mindtorch-nn", ("core", "cpu", "meta")),
    "mindtorch": ("packages/mindtorch", ("core", "cpu", "meta", "nn")),
    "torch": ("packages/mindtorch-torch", ("core", "cpu", "meta", "nn", "mindtorch")),
    "audio": ("packages/mindtorch-audio", ("core", "cpu")),
    "vision": ("packages/mindtorch-vision", ("core", "cpu")),
    "npu-simulator": ("plugins/mindtorch-npu-simulator", ()),
    "npu": ("plugins/mindtorch-npu", ("core", "cpu", "meta", "nn", "npu-simulator")),
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
    others = {"all", "programs", "release", "session", "site"}
    assert {f.stem for f in WORKFLOWS.glob("*.yml")} == {*SESSIONS, *others}


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


def test_what_compares_with_pytorch_or_a_neighbour_runs_beside_them():
    text = (ROOT / ".ci" / "run").read_text("utf-8")
    beside = re.search(r"^beside=\(([^)]*)\)", text, re.M)[1].split()
    for file in sorted((ROOT / "plugins").glob("*/tests/**/test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        alone = "resource|_testcapi|mindtorch_mpi" + (
            "|numpy|mindtorch_meta" if "npu/" in name else ""
        )
        wants = re.search(rf"as_pytorch|importorskip\(\"(?!{alone})", file.read_text("utf-8"))
        assert not wants or name.startswith(tuple(beside)), file
    assert all((ROOT / path.partition("::")[0]).exists() for path in beside)


def test_the_site_is_built_and_opened_by_its_workflow_and_by_what_ci_runs():
    text = (WORKFLOWS / "site.yml").read_text("utf-8")
    sessions = re.findall(
        r"^    uses: \./\.github/workflows/session\.yml\n    with:\n      session: (\S+)",
        text,
        re.M,
    )
    assert sessions == ["site", "site-browser"]
    noxfile = (ROOT / "noxfile.py").read_text("utf-8")
    assert re.search(r"^@nox.session\ndef site\(", noxfile, re.M)
    assert '@nox.session(name="site-browser")' in noxfile
    assert 'step "site" site' in (ROOT / ".ci" / "run").read_text("utf-8")


# ---- releases ----------------------------------------------------------------------------------


def test_only_a_tag_publishes_and_only_the_publishing_job_may_sign():
    text = (WORKFLOWS / "release.yml").read_text("utf-8")
    assert re.search(
        r'^on:\n  push:\n    tags: \["v\*"\]\n\npermissions:\n  contents: read\n', text, re.M
    )
    before, publish = text.split("  publish:\n")
    assert "id-token" not in before
    assert re.search(r"^    needs: \[test, build\]$", publish, re.M)
    assert re.search(r"^    permissions:\n      id-token: write\n    steps:$", publish, re.M)
    assert 'nox -s release -- "$GITHUB_REF_NAME"' in before
    assert not re.search("secrets|password|token:(?! write)", text)


@pytest.fixture
def check_release():
    spec = importlib.util.spec_from_file_location(
        "check_release", ROOT / ".ci" / "check_release.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DATED = "## [0.2.0] - 2026-01-31\n"


@pytest.mark.parametrize(
    ("tag", "names", "changelog", "wrong"),
    [
        (
            "v0.2.0",
            ["mindtorch_cpu-0.2.0.tar.gz", "mindtorch_cpu-0.2.0-py3-none-any.whl"],
            DATED,
            [],
        ),
        ("v0.2.0", ["mindtorch_cpu-0.1.0.tar.gz"], DATED, ["mindtorch_cpu-0.1.0.tar.gz is not of"]),
        ("v0.2.0", ["mindtorch_cpu-0.2.0.1-py3-none-any.whl"], DATED, ["0.2.0.1"]),
        (
            "v0.2.0",
            ["a-0.2.0.tar.gz"],
            "## [0.2.0] - unreleased\n",
            ["CHANGELOG.md has no section"],
        ),
        ("v0.2.0", [], DATED, ["nothing"]),
        ("0.2", ["a-0.2.tar.gz"], "## [0.2] - 2026-01-31\n", ["the tag is 0.2"]),
    ],
)
def test_a_release_is_of_one_version_and_in_the_changelog(
    check_release, tmp_path, tag, names, changelog, wrong
):
    for name in names:
        (tmp_path / name).touch()
    found = list(check_release.faults(tag, tmp_path, changelog))
    assert len(found) == len(wrong)
    assert all(part in text for part, text in zip(wrong, found, strict=True))


def test_wheels_of_this_machine_are_not_released(check_release, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check_release, "CHANGELOG", tmp_path / "CHANGELOG")
    (tmp_path / "CHANGELOG").write_text(DATED)
    (tmp_path / "dist").mkdir()
    for name in ("a-0.2.0-py3-none-linux_x86_64.whl", "a-0.2.0.tar.gz"):
        (tmp_path / "dist" / name).touch()
    assert check_release.main(str(tmp_path / "dist"), "v0.2.0") == 0
    assert [p.name for p in (tmp_path / "dist").iterdir()] == ["a-0.2.0.tar.gz"]
    assert check_release.main(str(tmp_path / "dist"), "v0.3.0") == 1
    assert "not of version 0.3.0" in capsys.readouterr().out


# ---- what people who report or contribute are asked -----------------------------------------------


def test_the_issue_forms_are_complete():
    forms = {p.stem: yaml_of(p) for p in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}
    assert set(forms) == {"bug", "backend", "feature", "config"}
    for name, text in forms.items():
        if name == "config":
            assert text == "blank_issues_enabled: true\n"
            continue
        assert re.search(r"^name: \S.*\ndescription: \S.*\nbody:\n", text), name
        ids = re.findall(r"^    id: (\w+)$", text, re.M)
        assert len(ids) == len(set(ids)) >= 2, name
        assert len(ids) == text.count("  - type: textarea") + text.count("  - type: input"), name
        assert text.count("required: true") >= 1, name


def yaml_of(path):
    text = path.read_text("utf-8")
    assert "\t" not in text
    return text


def test_the_citation_names_the_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.search(rf"^version: {re.escape(project['version'])}$", text, re.M)
    assert re.search(rf"^license: {project['license']}$", text, re.M)
    for key in ("cff-version", "message", "title", "type", "authors"):
        assert re.search(rf"^{key}:", text, re.M), key
