"""Measure what calls cost here, beside PyTorch where it is installed: both in one process, in turns.

What is named is measured: groups (eager, requires_grad, backward, library, training, meta, import), single
cases such as eager/add, and ops such as softmax or F.cross_entropy. Without a name all groups are. Times are
processor time of one thread; a ratio below 1 is faster than PyTorch.

Examples:
  mindtorch bench
  mindtorch bench eager/add softmax
  mindtorch bench backward --device npu --json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ..dispatch.nearest import suggestion
from .tables import print_table
from .usage import UsageError, add_json, add_modules, import_modules, print_json

if TYPE_CHECKING:
    from ..measuring.turns import Group, Measured, Schedule

__all__ = ["add_arguments", "run"]

_IMPORT = "import"
_MICROSECOND = 1000  # nanoseconds


@dataclass(frozen=True)
class _Peers:
    """Who is measured.

    Attributes:
        names: ours, and perhaps ``torch``.
        why: why PyTorch is not; empty where it is.
    """

    names: tuple[str, ...]
    why: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="a group, a case or an op (default: all groups)"
    )
    parser.add_argument("--device", default="cpu", help="where tensors lie (default: cpu)")
    parser.add_argument(
        "--rounds", type=int, default=7, metavar="N", help="how often all take turns (default: 7)"
    )
    add_modules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    from ..measuring.peers import limit_threads, machine
    from ..measuring.turns import Schedule

    if options.rounds < 1:
        raise UsageError(f"--rounds must be at least 1, got {options.rounds}")
    limit_threads()
    import_modules(options.modules)
    settle = _device(options.device)
    peers = _peers(options.device)
    chosen = _chosen(options, peers, settle)
    about = machine()
    if not options.json:
        print(", ".join(f"{k} {v}" for k, v in about.items()) + "; one thread")
        if peers.why:
            print(f"{peers.why}: own times only")
    found: dict[str, dict[str, Measured]] = {}
    for group, measured in _measured(chosen, peers.names, Schedule(options.rounds)):
        found[group.name] = measured
        if not options.json:
            _show(group, measured, peers.names)
    if options.json:
        settings = {"device": options.device, "threads": 1, "rounds": options.rounds}
        print_json({"machine": about, "settings": settings, "without": peers.why or None,
                    **_plain(chosen, found)})  # fmt: skip
    return 0


def _device(name: str) -> Callable[[], None] | None:
    """See that a device can be used; what waits for it, if it queues its work.

    Raises:
        UsageError: if no backend serves it, or it has no device here.
    """
    from ..ecosystem.accelerator import current_accelerator, synchronize
    from ..values.devices import concrete, row_of

    try:
        row_of(name.partition(":")[0])
        concrete(name)
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from None
    if current_accelerator() is None or name.partition(":")[0] in ("cpu", "meta"):
        return None
    return lambda: synchronize(name)


def _peers(device: str) -> _Peers:
    """Ours, and PyTorch if it is there and has the device."""
    from ..measuring.peers import pytorch
    from ..measuring.turns import OURS

    torch = pytorch()
    if torch is None:
        return _Peers((OURS,), "PyTorch is not installed")
    try:
        torch.ones(1, device=device)
    except Exception:  # noqa: BLE001 (it has a type of error for each kind of device)
        return _Peers((OURS,), f"PyTorch {torch.__version__} has no device {device!r} here")
    return _Peers((OURS, "torch"))


# ---- what is measured ----------------------------------------------------------------------------


def _chosen(
    options: argparse.Namespace, peers: _Peers, settle: Callable[[], None] | None
) -> list[Group]:
    """The groups to measure; a single case and an op are groups of one.

    Raises:
        UsageError: if there is nothing of a name.
    """
    from ..measuring.imports import IMPORT_TARGET
    from ..measuring.small_calls import groups
    from ..measuring.turns import Group

    known = {group.name: group for group in groups(options.device, settle)}
    if options.device == "cpu":
        known[_IMPORT] = Group(_IMPORT, IMPORT_TARGET, ())
    return [_named(name, known, options.device, peers, settle) for name in options.names or known]


def _named(
    name: str,
    known: dict[str, Group],
    device: str,
    peers: _Peers,
    settle: Callable[[], None] | None,
) -> Group:
    from ..measuring.op_calls import op_group

    if name in known:
        return known[name]
    group, _, case = name.partition("/")
    if case and group in known:
        cases = {each.name: each for each in known[group].cases}
        if case not in cases:
            raise UsageError(
                f"the group {group} has no case {case!r}: it has {', '.join(cases) or 'none'}"
            )
        return replace(known[group], name=name, target=None, cases=(cases[case],))
    try:
        found = op_group(name, device, peers.names, settle)
    except RuntimeError as error:
        raise UsageError(f"{' '.join(str(error).split())} {_groups(name, known)}") from None
    if found is None:
        raise UsageError(
            f"there is no sample call of {name!r} on {device!r}. {_groups(name, known)}"
        )
    return found


def _groups(name: str, known: dict[str, Group]) -> str:
    return f"The groups are {', '.join(known)}.{suggestion(name, list(known))}"


# ---- measuring -----------------------------------------------------------------------------------


def _measured(chosen: Sequence[Group], peers: Sequence[str], schedule: Schedule) -> Any:
    """Each group with its figures, while a line says how far it is."""
    from ..measuring.imports import measure_imports
    from ..measuring.turns import measure_case
    from ..testing.progress import Progress

    progress = Progress(sys.stderr, sum(max(1, len(group.cases)) for group in chosen), what="cases")
    for group in chosen:
        measured = {}
        if group.name == _IMPORT:
            measured = measure_imports(peers, schedule)
            progress.add()
        for case in group.cases:
            measured[case.name] = measure_case(group, case, peers, schedule)
            progress.add()
        progress.end()
        yield group, measured


# ---- showing -------------------------------------------------------------------------------------


def _show(group: Group, measured: dict[str, Measured], peers: Sequence[str]) -> None:
    """A group as a table: microseconds a call, and the ratio."""
    others = [p for p in peers[1:] if any(p in m.ns for m in measured.values())]
    head = [group.name, "mindtorch us", *(f"{p} us" for p in others), *(f"/ {p}" for p in others)]
    rows = [
        [
            name,
            _number(m.ns, peers[0], _MICROSECOND),
            *(_number(m.ns, p, _MICROSECOND) for p in others),
            *(_number(m.ratio, p) for p in others),
        ]
        for name, m in measured.items()
    ]
    summary = _summary(group, measured)
    if others and len(rows) > 1 and "torch" in summary:
        rows.append(["geometric mean", *[""] * (1 + len(others)), f"{summary['torch']:.3f}"])
    print()
    print_table(head, rows, right=range(1, len(head)))


def _number(values: dict[str, float], peer: str, unit: float = 1) -> str:
    return f"{values[peer] / unit:.3f}" if peer in values else "-"


def _summary(group: Group, measured: dict[str, Measured]) -> dict[str, float]:
    from ..measuring.turns import summarise

    shown = measured
    if group.name == _IMPORT:  # what users import
        shown = {"": measured["core and plugins"]}
    return summarise(group, shown)


def _plain(chosen: Sequence[Group], found: dict[str, dict[str, Measured]]) -> dict[str, Any]:
    """The results as JSON has them."""
    return {
        "groups": {
            name: {case: asdict(m) for case, m in cases.items()} for name, cases in found.items()
        },
        "summary": {group.name: _summary(group, found[group.name]) for group in chosen},
    }
