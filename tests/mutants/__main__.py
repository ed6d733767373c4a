"""Put faults into the sources, one at a time, and see whether the tests that call them find them.

    python tests/mutants [--sample 40] [--seed N] [--family NAME ...] [--seconds 60] [--jobs 1]

First all quick tests are run once, to see which functions each of them calls (kept in ``.mutants``, file
by file: a run that is cut off goes on the next time). Then each fault is shown to tests that call the
changed function, the quickest first, and to others of its module. Prints the share found by family, and
each fault that was not: those that change nothing that anybody could see are to be sorted out by reading.
A copy of the repository is changed, not the repository, and as many at once as ``--jobs`` says. Faults of
the NPU's plugin want the simulator.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

from mutate import Fault, faults, parses
from processes import PROCESSES, run_pytest
from reach import functions_at, kept_at

ROOT = Path(__file__).resolve().parents[2]
CORE, CPU, NN = "mindtorch_core", "plugins/mindtorch-cpu", "packages/mindtorch-nn"
NPU, MPI = "plugins/mindtorch-npu", "plugins/mindtorch-mpi"
SIMULATED = find_spec("mindtorch_npu_simulator") is not None
# Family: where its sources are, and tests whose processes call them, which is not seen.
FAMILIES: dict[str, tuple[list[str], list[str]]] = {
    "dispatch": ([f"{CORE}/dispatch", f"{CORE}/library"], ["tests/library"]),
    "tensors": ([f"{CORE}/tensors"], ["tests/contract"]),
    "values": ([f"{CORE}/values"], ["tests/contract"]),
    "pipeline": ([f"{CORE}/deferred"], ["tests/pipeline"]),
    "autograd": ([f"{CORE}/gradients", f"{CORE}/autograd", f"{CORE}/amp"], ["tests/autograd"]),
    "frontend": ([f"{CORE}/frontend", f"{CORE}/utils"], ["tests/citizen"]),
    "ops": ([f"{CORE}/operators", f"{CORE}/opdefs"], ["tests/operators"]),
    "plugins": ([f"{CORE}/plugins", f"{CORE}/inspection", f"{CORE}/cli"], ["tests/plugins", "tests/cli"]),
    "files": ([f"{CORE}/serialization"], ["tests/citizen"]),
    "cpu": ([f"{CPU}/src"], [f"{CPU}/tests"]),
    "nn": ([f"{NN}/src"], [f"{NN}/tests"]),
    "distributed": ([f"{CORE}/communication", f"{MPI}/src"], ["tests/distributed"]),
    "around": ([f"{CORE}/{name}" for name in ("ecosystem", "func", "array_api", "measuring")], ["tests/ecosystem"]),
    **({"npu": ([f"{NPU}/src"], [f"{NPU}/tests"])} if SIMULATED else {}),
}  # fmt: skip
# Sources that tests also call in other processes, or whose signatures they read, which is not seen, and those tests.
OVER_MPI = [f"{MPI}/tests/test_{name}.py" for name in ("collectives", "as_pytorch", "sharding")]
UNSEEN = {
    f"{CORE}/cli/": ["tests/cli"],
    f"{NN}/": ["tests/nn/test_signatures.py"],
    f"{CORE}/communication/": OVER_MPI,
    f"{MPI}/": OVER_MPI,
}
GENERATED = {"homes.py", "samples.py", "window_samples.py", "recurrent_samples.py"}
# What takes long, or would not see a copy: other distributions, every sample of PyTorch's, the documents;
# and what stands in PyTorch's place, which others compare with.
LEFT_OUT = ("npu-simulator", "mindtorch-torch", "opinfo", "moduleinfo", "attacks", "house", "mutants",
            *(() if SIMULATED else ("npu",)))  # fmt: skip
ALL_LEFT_OUT = 5  # the status of pytest where what the tests want is not installed
FOLDER = 1800  # seconds that the tests of a folder may take, while it is noted what they call
# Files whose tests a fault is shown to first, next, and at last; and of each file how many tests at most.
FILES = (3, 10, 10_000)
EACH = 12

Reach = dict[str, list[tuple[float, str]]]


def copied(into: Path) -> Path:
    """A copy of what git knows of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def pytest_on(copy: Path, arguments: list[str], seconds: float, **variables: str) -> int | None:
    """The exit status of tests on a copy; None for what takes too long."""
    apart = ("simulator", "mindtorch-torch")
    sources = [copy, *(p for p in copy.glob("p*/*/src") if not any(n in str(p) for n in apart))]
    sources.append(copy / "tests" / "mutants")
    command = ["-q", "-x", "-p", "no:cacheprovider", *arguments]
    asked = PROCESSES.Process(target=run_pytest, args=(copy, sources, command, variables))
    asked.start()
    asked.join(seconds)
    if asked.is_alive():
        asked.kill()
        asked.join()
        return None
    return asked.exitcode


# ---- which tests ------------------------------------------------------------------------------------


def reached(copy: Path, kept: Path, jobs: int) -> Reach:
    """The tests that call each function, from runs of the files that were not yet run, by folder."""
    kept.mkdir(exist_ok=True)
    places = [copy / place for place in ("tests", "packages", "plugins")]
    files = sorted(str(f.relative_to(copy)) for p in places for f in p.rglob("test_*.py"))
    files = [file for file in files if not any(part in file for part in LEFT_OUT)]

    def run(together: Iterable[str]) -> None:
        rest = [file for file in together if not kept_at(kept, file).exists()]
        options = ["-p", "reach", "--maxfail=0", "-m", "not slow"]
        if rest and pytest_on(copy, [*options, *rest], FOLDER, MUTANTS_REACH=str(kept)) is None:
            print(
                f"{Path(rest[0]).parent} takes too long: what it had left is left out", flush=True
            )
            return
        for file in rest:  # without a quick test
            if not kept_at(kept, file).exists():
                kept_at(kept, file).write_text("{}")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, (list(g) for _, g in groupby(files, lambda file: Path(file).parent))))
    known = [kept_at(kept, file) for file in files if kept_at(kept, file).exists()]
    merged: Reach = defaultdict(list)
    for found in known:
        for where, tests in json.loads(found.read_text()).items():
            merged[where] += [(seconds, name) for seconds, name in tests]
    return merged


def chosen(reach: Reach, file: str, source: str, fault: Fault, seconds: float) -> list[list[str]]:
    """Tests for a fault, in the order in which they are asked: of its function, then of its module.

    First a few of the files that have the quickest: to collect what a file has may take long.
    """
    around = next((reach[f] for f in functions_at(file, source, fault.line) if f in reach), [])
    module = {t for f, tests in reach.items() if f.startswith(f"{file}:") for t in tests}
    rounds: list[dict[str, list[str]]] = [{} for _ in FILES]
    spent = 0.0
    for taken, test in dict.fromkeys([*sorted(around), *sorted(module)]):
        if spent >= seconds:
            break
        spent += taken
        at = test.partition("::")[0]
        for files, most in zip(rounds, FILES, strict=True):
            if (at in files or len(files) < most) and len(files.get(at, ())) < EACH:
                files.setdefault(at, []).append(test)
                break
        else:
            rounds[-1].setdefault(at, []).append(test)
    return [[t for tests in files.values() for t in tests] for files in rounds if files]


def found(copy: Path, file: str, fault: Fault, rounds: list[list[str]], seconds: float) -> bool:
    """Whether tests find a fault."""
    place, names = copy / file, copy / "names of tests"
    source = place.read_text(encoding="utf-8")
    place.write_text(fault.applied(source), encoding="utf-8")
    try:
        for tests in rounds:
            names.write_text("\n".join(tests), encoding="utf-8")
            if pytest_on(copy, [f"@{names}"], 60 + 5 * seconds) not in (0, ALL_LEFT_OUT):
                return True
        return False
    finally:
        place.write_text(source, encoding="utf-8")


# ---- the command --------------------------------------------------------------------------------------


def candidates(family: str) -> list[tuple[str, Fault]]:
    """Every fault that can be put into a family's files."""
    folders = FAMILIES[family][0]
    return [
        (str(file.relative_to(ROOT)), fault)
        for file in sorted(f for folder in folders for f in (ROOT / folder).rglob("*.py"))
        if file.name not in GENERATED
        for fault in faults(file.read_text(encoding="utf-8"))
    ]


def drawn(chance: random.Random, families: list[str], number: int) -> list[tuple[str, str, Fault]]:
    """Faults by chance, as many of each family: the family, the file and the change."""
    by_family = {family: candidates(family) for family in families}
    found: list[tuple[str, str, Fault]] = []
    while len(found) < number:
        family = families[len(found) % len(families)]
        file, fault = chance.choice(by_family[family])
        if parses(fault.applied((ROOT / file).read_text(encoding="utf-8"))):
            found.append((family, file, fault))
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="how many faults")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--seconds", type=float, default=60, help="of tests that each is shown to")
    parser.add_argument("--reach", type=Path, default=ROOT / ".mutants", help="where that is kept")
    parser.add_argument("--jobs", type=int, default=1, help="faults that are tried at once")
    wanted = parser.parse_args()
    print(f"--seed {wanted.seed}", flush=True)
    told: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(wanted.jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(wanted.jobs):
            copies.put(copied(Path(folder) / str(number)))
        copy = copies.get()
        if pytest_on(copy, ["tests/contract/test_2_keys.py"], 600) != 0:
            sys.exit("tests fail as they are")
        reach = reached(copy, wanted.reach.resolve(), wanted.jobs)
        copies.put(copy)

        def judged(each: tuple[str, str, Fault]) -> None:
            family, file, fault = each
            source = (ROOT / file).read_text(encoding="utf-8")
            rounds = chosen(reach, file, source, fault, wanted.seconds)
            rounds += [tests for folder, tests in UNSEEN.items() if file.startswith(folder)]
            rounds = rounds or [FAMILIES[family][1]]
            copy = copies.get()
            try:
                seen = found(copy, file, fault, rounds, wanted.seconds)
            finally:
                copies.put(copy)
            told[family].append(seen)
            old = source[fault.start : fault.end]
            print(f"{'found' if seen else 'NOT FOUND'}  {file}:{fault.line}  {old!r} -> {fault.text!r}", flush=True)  # fmt: skip

        list(pool.map(judged, drawn(random.Random(wanted.seed), wanted.family, wanted.sample)))
    for family, seen in sorted(told.items()):
        print(f"{family:10} {sum(seen)} of {len(seen)}")
    everything = [one for seen in told.values() for one in seen]
    print(f"all        {sum(everything)} of {len(everything)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
