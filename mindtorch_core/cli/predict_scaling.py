"""Predict how long a training script's steps take on many ranks, and how efficient they are.

The script, which trains by DistributedDataParallel or fully_shard, runs here on a few ranks as
'mindtorch run -n' would run it, and as the first of many ranks that do not exist. Its steps are then replayed
with the times that messages take on the network that a file describes. What comes out is a prediction;
beside it stands how well the same arithmetic foretells the runs that were measured. Options of this command
stand before the script, those after it are the script's.

Examples:
  mindtorch predict-scaling --ranks 1024 --network network.toml train.py
  mindtorch predict-scaling --ranks 64 --network network.toml --measure 1,2 --plot efficiency.svg train.py
  mindtorch predict-scaling --ranks 256 --network network.toml --json train.py > scaling.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .tables import print_table
from .usage import UsageError, add_json, add_rest, output_aside, print_json

if TYPE_CHECKING:
    from ..measuring.scaling.host import Host
    from ..measuring.scaling.networks import Network
    from ..measuring.scaling.prediction import Predicted
    from ..measuring.scaling.steps import Step

__all__ = ["add_arguments", "run"]

_MOST_MEASURED: Final = 16  # ranks on one machine
_AIM: Final = 0.15
_ALIKE: Final = 0.1  # by how much times of computing may differ that are taken for the same
_NOTE: Final = "These are predictions, not measurements."


class _Failed(Exception):
    """A run of the script ended with a status that is not 0."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--ranks", type=int, required=True, metavar="N", help="predict up to so many ranks"
    )
    parser.add_argument(
        "--network", required=True, metavar="FILE", help="the network's description, a TOML file"
    )
    parser.add_argument(
        "--measure",
        default="1,2,4",
        metavar="LIST",
        help="numbers of ranks to run here, 1 among them (default: 1,2,4)",
    )
    parser.add_argument("--plot", metavar="FILE", help="also draw the efficiency: an .svg")
    add_json(parser)
    parser.add_argument("script", metavar="SCRIPT", help="the Python file to run")
    add_rest(parser)


def run(options: argparse.Namespace) -> int:
    """Run the script, predict, and print; returns the script's exit status."""
    from ..measuring.scaling.networks import NetworkError, read_network
    from ..measuring.scaling.plot import efficiency_plot
    from ..measuring.scaling.steps import typical

    measured_at = _checked(options)
    try:
        network = read_network(Path(options.network))
    except NetworkError as error:
        raise UsageError(str(error)) from None
    _see_engine()
    try:
        with output_aside():  # what the script prints is no part of the answer
            runs = {count: _steps(options, count) for count in measured_at}
            beside = {n: _steps(options, n, of=n) for n in measured_at if n > 1}
            hosts = {count: _host(count) for count in beside}
    except _Failed as error:
        return error.status
    with output_aside():
        one = typical(runs[1][0])
        alone = {1: one, **_alone(options, one, beside)}
    found = _predict(network, alone, runs, beside, hosts)
    if options.plot:
        name = Path(options.script).name
        Path(options.plot).write_text(efficiency_plot(name, network.name, found.points), "utf-8")
    if options.json:
        print_json(found.plain(options, network))
    else:
        found.show(network)
    return 0


# ---- what the user has given ---------------------------------------------------------------------


def _checked(options: argparse.Namespace) -> list[int]:
    """The numbers of ranks to run here.

    Raises:
        UsageError: if something given makes no sense.
    """
    if options.ranks < 1:
        raise UsageError(f"--ranks must be at least 1, got {options.ranks}")
    try:
        counts = sorted({int(each) for each in options.measure.split(",")})
    except ValueError:
        raise UsageError(
            f"--measure wants numbers such as 1,2,4, got {options.measure!r}"
        ) from None
    if counts[0] != 1 or counts[-1] > _MOST_MEASURED:
        raise UsageError(
            f"--measure wants 1 and numbers up to {_MOST_MEASURED}, got {options.measure!r}: "
            "predictions start from the run on one rank"
        )
    if not Path(options.script).is_file():
        raise UsageError(f"there is no file {options.script!r}")
    if options.plot:
        folder = Path(options.plot).absolute().parent
        if Path(options.plot).suffix != ".svg":
            raise UsageError(f"--plot draws an .svg, got {options.plot!r}")
        if not folder.is_dir():
            raise UsageError(f"cannot write {options.plot!r}: there is no folder {str(folder)!r}")
    return counts


def _see_engine() -> None:
    """See that ranks can be connected here.

    Raises:
        UsageError: if they cannot.
    """
    from ..communication.engines import engine

    try:
        engine("mpi")
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from None


# ---- running -------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(f"mindtorch predict-scaling: {text}", file=sys.stderr, flush=True)


def _launch(count: int, module: str, folder: Path, *args: str, **more: str) -> None:
    """Run a module of the room of scaling in some ranks.

    Raises:
        _Failed: if one fails; what it said has been shown.
    """
    from .launch import launch
    from .run import FOLDER

    path = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PYTHONPATH": path, "MINDTORCH_TORCH": "1", "OMP_NUM_THREADS": "1"}
    env.update(more)
    command = [sys.executable, "-m", f"mindtorch_core.measuring.scaling.{module}", str(folder)]
    status = launch([*command, *args], env, count)
    if status:
        raise _Failed(status)


def _steps(options: argparse.Namespace, count: int, *, of: int = 0) -> list[list[Step]]:
    """The script's steps on each of some ranks, or in as many copies, each the first of ``of`` ranks."""
    from ..measuring.scaling.noting import IMAGINED
    from ..measuring.scaling.steps import read_steps

    ranks = "1 rank" if count == 1 else f"{count} ranks"
    copies = "one copy" if count == 1 else f"{count} copies"
    _say(
        f"running {options.script} "
        + (f"in {copies}, alone of {of} ranks" if of else f"on {ranks}")
    )
    with tempfile.TemporaryDirectory(prefix="mindtorch-scaling-") as name:
        more = {IMAGINED: str(of)} if of else {}
        _launch(count, "noting", Path(name), options.script, *options.args, **more)
        reports = [Path(name, f"{rank}.json") for rank in range(count)]
        try:
            return [read_steps(json.loads(each.read_text("utf-8"))) for each in reports]
        except ValueError as error:
            raise UsageError(f"{options.script}: {error}") from None
        except FileNotFoundError:
            raise UsageError(
                f"{options.script} has left its process without a report: it must end as programs do"
            ) from None


def _alone(
    options: argparse.Namespace, one: Step, beside: dict[int, list[list[Step]]]
) -> dict[int, Step]:
    """The step of one rank of each number that is foretold, without the others.

    Where a rank of the largest number does what a single one does, the numbers between are not run. They end
    before the first at which the script fails: a batch can be too small for so many.
    """
    from ..measuring.scaling.steps import typical

    counts = _counts(options.ranks)[1:]
    found: dict[int, Step] = {}
    try:
        if counts:
            found[counts[-1]] = typical(_steps(options, 1, of=counts[-1])[0])
            if found[counts[-1]].resembles(one, _ALIKE):
                return dict.fromkeys(counts, one)
    except _Failed:
        _say(f"the script fails as one of {counts[-1]} ranks: looking for how many it runs on")
    for count in counts:
        try:
            if count not in found:
                found[count] = typical(_steps(options, 1, of=count)[0])
        except _Failed:
            _say(f"predictions end before {count} ranks: there the script fails")
            break
    return {count: found[count] for count in counts if count in found}


def _host(count: int) -> Host:
    """What calls cost here between some ranks."""
    from ..measuring.scaling.host import read_host

    _say(f"measuring calls on {count} rank{'s' if count > 1 else ''}")
    with tempfile.TemporaryDirectory(prefix="mindtorch-scaling-") as name:
        _launch(count, "host", Path(name))
        return read_host(json.loads(Path(name, "host.json").read_text("utf-8")))


# ---- predicting ----------------------------------------------------------------------------------


def _predict(
    network: Network,
    alone: dict[int, Step],
    runs: dict[int, list[list[Step]]],
    beside: dict[int, list[list[Step]]],
    hosts: dict[int, Host],
) -> _Found:
    """Predict the runs that were measured here, and those on the network.

    What ranks take from each other here is seen where copies run ``beside`` each other.
    """
    from ..measuring.scaling.prediction import predict
    from ..measuring.scaling.steps import compute_spread, lost_by_the_slowest, typical

    cores = os.cpu_count() or 1
    checks = []
    for count, copies in beside.items():
        host, lost = hosts[count], lost_by_the_slowest(runs[count])
        foretold = predict(
            typical([each for steps in copies for each in steps]), count, host.time,
            spread=compute_spread(copies), overlap=host.overlap, lost=lost,
        ).seconds  # fmt: skip
        seconds = _middle(runs[count])
        checks.append(
            {"ranks": count, "measured_s": seconds, "predicted_s": foretold, "lost_s": lost,
             "error": foretold / seconds - 1, "more_ranks_than_cores": count > cores}
        )  # fmt: skip
    fair = max(count for count in runs if count <= cores)
    spread = compute_spread(runs[fair])
    # One rank a machine or device: what ranks take from each other here is no part of it.
    shared = [hosts[count].overlap for count in runs if 1 < count <= cores]
    overlap = network.overlap if network.overlap is not None else min(shared, default=0.0)
    points = [
        predict(step, count, lambda message, n=count: network.time(message.op, message.bytes, n),  # type: ignore[misc]
                spread=spread, overlap=overlap)
        for count, step in alone.items()
    ]  # fmt: skip
    return _Found(alone[1], spread, overlap, cores, checks, points)


def _middle(ranks: list[list[Step]]) -> float:
    """The middle of all ranks' steps, in seconds."""
    from statistics import median

    return median(step.seconds for steps in ranks for step in steps)


def _counts(most: int) -> list[int]:
    """Powers of two up to a number, and that number."""
    return sorted({1 << i for i in range(most.bit_length())} | {most})


class _Found:
    """Everything that is told."""

    def __init__(
        self,
        step: Step,
        spread: float,
        overlap: float,
        cores: int,
        checks: list[dict[str, Any]],
        points: list[Predicted],
    ) -> None:
        self.step, self.spread, self.overlap, self.cores = step, spread, overlap, cores
        self.checks, self.points = checks, points

    def plain(self, options: argparse.Namespace, network: Network) -> dict[str, Any]:
        """As JSON has it."""
        step = self.step
        return {
            "script": options.script,
            "network": asdict(network),
            "note": _NOTE,
            "step": {
                "seconds": step.seconds,
                "compute_s": step.compute,
                "lost_s": step.lost,
                "messages": len(step.messages),
                "bytes": step.bytes,
            },
            "spread": self.spread,
            "overlap": self.overlap,
            "cores": self.cores,
            "checks": self.checks,
            "predictions": [
                {**asdict(point), "speedup": self._speedup(point)} for point in self.points
            ],
        }

    def show(self, network: Network) -> None:
        """Print tables."""
        step = self.step
        print(
            f"a step on one rank: {1e3 * step.seconds:.3f} ms, {len(step.messages)} messages of "
            f"{step.bytes} bytes; spread {100 * self.spread:.1f} %, overlap {100 * self.overlap:.0f} %"
        )
        if self.checks:
            head = ["ranks here", "measured ms", "predicted ms", "without a core", "error", ""]
            rows = [
                [str(c["ranks"]), f"{1e3 * c['measured_s']:.3f}", f"{1e3 * c['predicted_s']:.3f}",
                 f"{1e3 * c['lost_s']:.3f}", f"{100 * c['error']:+.1f} %", self._remark(c)]
                for c in self.checks
            ]  # fmt: skip
            print()
            print_table(head, rows, right=range(5))
        rows = [
            [str(p.ranks), f"{1e3 * p.seconds:.3f}", f"{1e3 * p.compute:.3f}",
             f"{1e3 * p.waiting:.3f}", f"{self._speedup(p):.2f}", f"{100 * p.efficiency:.1f} %"]
            for p in self.points
        ]  # fmt: skip
        print()
        head = ["ranks", "step ms", "computing", "waiting", "speed-up of a step", "efficiency"]
        print_table(head, rows, title=f"{network.name}. {_NOTE}", right=range(6))
        if any(abs(c["error"]) > _AIM for c in self.checks):
            print("A check misses its aim: take these for a direction, and do not publish them.")
        elif not self.checks:
            print("Nothing was checked: --measure named one rank alone.")

    def _speedup(self, point: Predicted) -> float:
        """How much shorter a step is than on one rank: 1 where each rank's batch stays, at best."""
        return self.points[0].seconds / point.seconds

    def _remark(self, check: dict[str, Any]) -> str:
        """What is to be said of a check."""
        remarks = []
        if abs(check["error"]) > _AIM:
            remarks.append(f"misses the aim of {100 * _AIM:.0f} %")
        if check["more_ranks_than_cores"]:
            remarks.append(f"more ranks than the {self.cores} cores")
        return ", ".join(remarks)
