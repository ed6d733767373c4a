"""Put faults into the sources, one at a time, and see whether the tests that run them find them.

    python tests/mutants [--sample 40] [--seed N] [--family NAME ...] [--kind NAME ...] [--seconds 60]

First all quick tests are run once, to see which blocks of the sources each of them runs (kept in
``.mutants``, for each state of the sources, file by file: a run that is cut off goes on the next time);
as many at a time as there are cores. Then each fault is shown to tests that run its block, the quickest first: in forks of one process that has
collected them, or, where it changes what is done on import, in a new one. Prints the share found by family,
and each fault that was not: those that change nothing that anybody could see are to be sorted out by
reading, and those whose block runs in tests that are left out are to be shown to those.
No file is changed. Faults of the NPU's plugin want the simulator.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import blocks
import faulty
import pytest
from judge import TASKS
from mutate import KINDS, Fault, faults, parses

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORE, CPU, NN = "mindtorch_core", "plugins/mindtorch-cpu", "packages/mindtorch-nn"
NPU, MPI = "plugins/mindtorch-npu", "plugins/mindtorch-mpi"
SIMULATED = find_spec("mindtorch_npu_simulator") is not None
# Family: where its sources are.
FAMILIES = {
    "dispatch": [f"{CORE}/dispatch", f"{CORE}/library"],
    "tensors": [f"{CORE}/tensors"],
    "values": [f"{CORE}/values"],
    "pipeline": [f"{CORE}/deferred"],
    "autograd": [f"{CORE}/gradients", f"{CORE}/autograd", f"{CORE}/amp"],
    "frontend": [f"{CORE}/frontend", f"{CORE}/utils"],
    "ops": [f"{CORE}/operators", f"{CORE}/opdefs"],
    "plugins": [f"{CORE}/plugins", f"{CORE}/inspection", f"{CORE}/cli"],
    "files": [f"{CORE}/serialization"],
    "cpu": [f"{CPU}/src"],
    "nn": [f"{NN}/src"],
    "distributed": [f"{CORE}/communication", f"{MPI}/src"],
    "around": [f"{CORE}/{name}" for name in ("ecosystem", "func", "array_api", "measuring")],
    **({"npu": [f"{NPU}/src"]} if SIMULATED else {}),
}  # fmt: skip
GENERATED = {"homes.py", "samples.py", "window_samples.py", "recurrent_samples.py"}
# What takes long, or would not see a fault: every sample of PyTorch's, the documents; and what stands in
# PyTorch's place, which others compare with.
LEFT_OUT = ("npu-simulator", "mindtorch-torch", "opinfo", "moduleinfo", "attacks", "house", "mutants",
            *(() if SIMULATED else ("npu",)))  # fmt: skip
EACH = 4  # tests of a file that a fault is shown to at first
TOGETHER = 30  # files of tests that are run in one process
CORES = os.cpu_count() or 1

Tests = list[tuple[float, str]]


def sources(families: list[str] | None = None) -> list[Path]:
    """The files that faults are put into, of some families or all."""
    folders = [folder for family in families or FAMILIES for folder in FAMILIES[family]]
    found = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in found if file.name not in GENERATED]


def test_files() -> list[str]:
    """The files with tests that are asked."""
    places = [ROOT / place for place in ("tests", "packages", "plugins")]
    files = sorted(str(f.relative_to(ROOT)) for p in places for f in p.rglob("test_*.py"))
    return [file for file in files if not any(part in file for part in LEFT_OUT)]


def pytest_with(plugin: str, arguments: list[str], **variables: str) -> int:
    """Run pytest with a plugin of this folder, in a process of its own; gives its status."""
    paths = [str(p) for p in ROOT.glob("p*/*/src") if "mindtorch-torch" not in str(p)]
    paths = [str(ROOT), *paths, str(HERE), str(HERE / "started"), os.environ.get("PYTHONPATH", "")]
    options = ["-q", "-p", "no:cacheprovider", "-p", plugin, "--capture=sys", "-m", "not slow"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if faulty.FAULT in variables else None,
        check=False,
    ).returncode


# ---- which tests ------------------------------------------------------------------------------------


def parted(files: list[str]) -> list[list[str]]:
    """Files of one folder each, some at a time."""
    folders = [list(some) for _, some in groupby(files, lambda file: Path(file).parent)]
    return [some[n : n + TOGETHER] for some in folders for n in range(0, len(some), TOGETHER)]


def find_out(kept: Path, files: list[str]) -> None:
    """Run tests, to see which blocks of the sources they run."""
    print(f"which blocks the tests from {files[0]} on run", flush=True)
    spans = json.loads((kept / "spans.json").read_text())
    with tempfile.NamedTemporaryFile() as array:
        array.write(bytes(sum(map(len, spans.values()))))
        array.flush()
        status = pytest_with("reach", files, **{blocks.FOLDER: str(kept), blocks.RAN: array.name})
    if status not in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        raise SystemExit(f"pytest ended with {status} in the tests from {files[0]} on")
    for file in files:  # without a quick test
        if not blocks.kept_at(kept, file).exists():
            blocks.kept_at(kept, file).write_text('{"tests": [], "blocks": {}}')


def reached(kept: Path) -> tuple[dict[str, list[blocks.Span]], dict[str, dict[int, Tests]]]:
    """The blocks of each source, and the tests that run each of them; what is not known yet is found out."""
    if not (kept / "spans.json").exists():
        kept.mkdir(parents=True, exist_ok=True)
        blocks.tabulate(sources(), kept)
    spans = json.loads((kept / "spans.json").read_text())
    files = test_files()
    rest = [file for file in files if not blocks.kept_at(kept, file).exists()]
    with ThreadPoolExecutor(CORES) as runs:
        list(runs.map(partial(find_out, kept), parted(rest)))
    firsts = {
        path: number for path, (_, number) in json.loads((kept / "table.json").read_text()).items()
    }
    by_number: dict[int, Tests] = defaultdict(list)
    for file in files:
        found = json.loads(blocks.kept_at(kept, file).read_text())
        for number, ran in found["blocks"].items():
            by_number[int(number)] += [(seconds, found["tests"][test]) for seconds, test in ran]
    tests = {
        path: {n: by_number[first + n] for n in range(len(spans[path])) if first + n in by_number}
        for path, first in firsts.items()
    }
    return spans, tests


def chosen(tests: Tests, seconds: float) -> list[str]:
    """Tests for a fault in the order in which they are asked: of each file a few, then the others, the quick first."""
    asked: dict[str, int] = defaultdict(int)
    ordered = []
    for taken, test in sorted(tests):
        file = test.partition("::")[0]
        asked[file] += 1
        ordered.append((asked[file] > EACH, taken, test))
    names, spent = [], 0.0
    for _, taken, test in sorted(ordered):
        spent += taken
        if spent > seconds:
            break
        names.append(test)
    return names


# ---- which faults -----------------------------------------------------------------------------------


def drawn(
    chance: random.Random, families: list[str], kinds: set[str], number: int
) -> list[tuple[str, Path, Fault]]:
    """Faults by chance, as many of each family: the family, the file and the change."""
    by_family = {
        family: [
            (file, fault)
            for file in sources([family])
            for fault in faults(file.read_text(encoding="utf-8"))
            if fault.kind in kinds
        ]
        for family in families
    }
    found: list[tuple[str, Path, Fault]] = []
    while len(found) < number:
        family = families[len(found) % len(families)]
        file, fault = chance.choice(by_family[family])
        if parses(fault.applied(file.read_text(encoding="utf-8"))):
            found.append((family, file, fault))
    return found


def judge(folder: Path, number: int, some: list[dict[str, object]]) -> None:
    """Judge faults within functions, or one of what an import runs, in a process of its own."""
    if not some:
        return
    place = folder / f"{number}.tasks"
    place.write_text("".join(json.dumps(task) + "\n" for task in some), encoding="utf-8")
    files = sorted({str(test).partition("::")[0] for task in some for test in task["tests"]})  # type: ignore[attr-defined]
    variables = {TASKS: str(place)}
    if not some[0]["functions"]:
        text = folder / f"{number}.fault"
        text.write_text(json.dumps([some[0]["path"], some[0]["text"]]), encoding="utf-8")
        variables[faulty.FAULT] = str(text)
    if pytest_with("judge", files, **variables) and not some[0]["functions"]:
        place.with_suffix(".judged").write_text(json.dumps([some[0]["number"], "the import"]))


def judged(tasks: list[dict[str, object]], folder: Path) -> dict[int, str | None]:
    """By number, the test that finds each fault: of those within functions, then of what imports run."""
    within = [task for task in tasks if task["functions"]]
    parts = [within[n::CORES] for n in range(CORES)] + [[t] for t in tasks if not t["functions"]]
    with ThreadPoolExecutor(CORES) as runs:
        list(runs.map(partial(judge, folder), range(len(parts)), parts))
    lines = [line for f in folder.glob("*.judged") for line in f.read_text().splitlines()]
    return dict(json.loads(line) for line in lines)


# ---- the command --------------------------------------------------------------------------------------


def tasks_for(
    some: list[tuple[str, Path, Fault]], kept: Path, seconds: float
) -> list[dict[str, object]]:
    """What is judged: of each fault its module's text, and the tests it is shown to."""
    spans, reach = reached(kept)
    imported = {
        block for found in kept.glob("imported.*") for block in json.loads(found.read_text())
    }
    firsts = json.loads((kept / "table.json").read_text())
    tasks = []
    for number, (_, file, fault) in enumerate(some):
        path, source = str(file), file.read_text(encoding="utf-8")
        text = fault.applied(source)
        column = fault.start - source.rfind("\n", 0, fault.start) - 1
        block = blocks.around(spans[path], fault.line, column)
        module = [ran for found in reach[path].values() for ran in found]
        tests = [*dict.fromkeys(module)] if block is None else reach[path].get(block, [])
        at_once = block is not None and firsts[path][1] + block not in imported
        functions = at_once and faulty.changed_functions(path, source, text) is not None
        tasks.append(
            {
                "number": number,
                "path": path,
                "text": text,
                "tests": chosen(tests, seconds),
                "functions": functions,
            }
        )
    return tasks


def report(some: list[tuple[str, Path, Fault]], finders: dict[int, str | None]) -> None:
    """Print each fault and whether a test finds it, and the shares by kind and by family."""
    told: dict[str, list[bool]] = defaultdict(list)
    for number, (family, file, fault) in enumerate(some):
        seen = finders.get(number)
        old = file.read_text(encoding="utf-8")[fault.start : fault.end]
        place = f"{file.relative_to(ROOT)}:{fault.line}"
        print(
            f"{'found' if seen else 'NOT FOUND'}  {place}  {old!r} -> {fault.text!r}  {seen or ''}"
        )
        for group in (fault.kind, family, "all"):
            told[group].append(bool(seen))
    for group in [*KINDS, *FAMILIES, "all"]:
        if group in told:
            print(f"{group:12} {sum(told[group])} of {len(told[group])}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="how many faults")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=60, help="of tests that each is shown to")
    parser.add_argument("--reach", type=Path, default=ROOT / ".mutants", help="where that is kept")
    wanted = parser.parse_args()
    print(f"--seed {wanted.seed}", flush=True)
    state = hashlib.sha256(b"".join(file.read_bytes() for file in sources())).hexdigest()[:16]
    some = drawn(random.Random(wanted.seed), wanted.family, {*wanted.kind}, wanted.sample)
    tasks = tasks_for(some, wanted.reach.resolve() / state, wanted.seconds)
    with tempfile.TemporaryDirectory() as folder:
        report(some, judged(tasks, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
