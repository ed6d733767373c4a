"""The kit as a plugin of pytest: its options, and its report in the terminal and as a page.

pytest loads it when it is asked for the kit by ``--pyargs mindtorch_core.testing.conformance``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from typing import Any, Final

import pytest

from ...inspection.support import coverage
from ...library.cpu_fallback import fallback_counts
from ...plugins.checking import line_of
from ...plugins.loader import entry_of, numerics_of
from ...plugins.private_names import findings
from ...values.errors import BackendUnavailableError
from ...values.own_frames import VARIABLE as SHOWN_FRAMES
from ..progress import Progress
from .cases import LEVELS, RULES, Case
from .checks import OPERANDS, has, operands_of
from .function_cases import FUNCTION_TESTS, FunctionCase
from .options import CHOSEN, shard_of
from .page import write_page
from .results import Results, family_of

__all__ = ["RESULTS"]

RESULTS: Final = Results()
SERVED: Final[Counter[str]] = Counter()  # by op: the calls that the CPU computed
_LISTED: Final = 40  # failures named in the terminal
# How lines of an error begin that are shown beside its first one.
_TELLING: Final = (OPERANDS, "Mismatched", "Greatest absolute", "First at", "Expected")
_FRAMES: Final = pytest.MonkeyPatch()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The kit's options."""
    group = parser.getgroup("mindtorch", "conformance of a mindtorch backend")
    group.addoption(
        "--device", dest="kit_device", default="", help="the device to test, such as acme"
    )
    group.addoption(
        "--level", dest="kit_level", default="core", choices=LEVELS,
        help="how much is tested (default: core)",
    )  # fmt: skip
    group.addoption(
        "--conformance-html", dest="kit_page", default="", metavar="FILE",
        help="write a page with the results of every op by dtype",
    )  # fmt: skip
    group.addoption(
        "--no-fallback", dest="kit_no_fallback", action="store_true",
        help="a test in which the CPU computed an op for the device fails",
    )  # fmt: skip
    group.addoption(
        "--conformance-shard", dest="kit_shard", default="1/1", metavar="I/N",
        help="run part I of N of the tests",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options before tests are collected.

    Raises:
        UsageError: if no device is named, or no backend serves it.
    """
    from ...values.devices import row_of

    _FRAMES.setenv(SHOWN_FRAMES, "full")  # for the backend's line in what is said of a failure
    CHOSEN.device, CHOSEN.level = config.getoption("kit_device"), config.getoption("kit_level")
    CHOSEN.page = config.getoption("kit_page")
    CHOSEN.fallback = not config.getoption("kit_no_fallback")
    try:
        CHOSEN.shard = shard_of(config.getoption("kit_shard"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    SERVED.clear()
    RESULTS.clear()  # a process may run the kit several times
    sys.modules.pop(f"{__package__}.test_installed", None)  # it is made for one device
    if not CHOSEN.device:
        raise pytest.UsageError("name the device to test: --device NAME")
    try:
        row_of(CHOSEN.device)
    except (BackendUnavailableError, RuntimeError) as error:
        raise pytest.UsageError(str(error)) from None
    if CHOSEN.quiet:
        print("\n".join(headline()), flush=True)


def pytest_unconfigure() -> None:
    """Leave the environment as it was."""
    _FRAMES.undo()


def pytest_report_header() -> list[str]:
    """What is tested, and what it is compared with."""
    return headline()


def headline() -> list[str]:
    """What is tested, and what it is compared with, in words."""
    from ...values.devices import row_of
    from .pytorch import oracle

    row = row_of(CHOSEN.device)
    torch = oracle() if CHOSEN.level != "smoke" else None
    lines = [f"conformance of '{row.type}', {row.distribution}, level {CHOSEN.level}"]
    cpu = "the CPU backend in float64" if has("cpu") else "no CPU backend is installed: left out"
    declared = str(numerics_of(CHOSEN.device))
    if declared:
        lines.append(f"declared: {declared}")
    lines.append(f"reference: {cpu}" + ("" if torch is None else f"; PyTorch {torch.__version__}"))
    return lines


@pytest.hookimpl(trylast=True)  # of what -k chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of this part: every n-th, so that all parts take about as long.

    By their names: another plugin may have put them into another order on each machine.
    """
    part, parts = CHOSEN.shard
    own = {*sorted(item.nodeid for item in items)[part - 1 :: parts]}
    CHOSEN.emptied = bool(items) and not own
    if parts > 1:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in own])
        items[:] = [item for item in items if item.nodeid in own]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Keep which ops the CPU computed in a test; with ``--no-fallback`` the test fails for them."""
    before = fallback_counts(CHOSEN.device)
    left: dict[str, int] = {}
    try:
        result = yield
    finally:
        now = fallback_counts(CHOSEN.device)
        left = {name: n - before.get(name, 0) for name, n in now.items() if n > before.get(name, 0)}
        SERVED.update(left)
    if left and not CHOSEN.fallback:
        names = ", ".join(f"{name} ({n} calls)" for name, n in sorted(left.items()))
        raise AssertionError(f"the CPU computed {names} for {CHOSEN.device}")
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep which op a test is about, and the message of one that fails."""
    report = yield
    params = getattr(getattr(item, "callspec", None), "params", {})
    case = params.get("case")
    error = None if call.excinfo is None else call.excinfo.value
    report.kit = {  # type: ignore[attr-defined]
        "test": item.name,
        "op": _described(case),
        "error": _told(error, case),
    }
    return report


def _described(case: Any) -> list[str] | None:
    """Name, family and dtype of the op or function that a test is about; None for other tests."""
    if isinstance(case, FunctionCase):
        return [case.name, "functions", case.dtype]
    return [case.name, family_of(case.op), case.dtype] if isinstance(case, Case) else None


def _told(error: BaseException | None, case: Any = None) -> str:
    """An exception as text, with the backend's line that it came from, if any, and the operands."""
    if error is None:
        return ""
    own = isinstance(error, AssertionError)  # what a check says speaks for itself
    text = str(error) if own else f"{type(error).__name__}: {error}"
    ep, at = entry_of(CHOSEN.device), ""
    cause: BaseException | None = error
    while cause is not None and not at:
        at, cause = line_of(ep, cause), cause.__cause__
    text = f"{text} (at {at})" if at else text
    shown = operands_of(case) if isinstance(case, Case) else ""
    return f"{text}\n{OPERANDS}{shown}" if shown and own else text


def pytest_runtestloop(session: pytest.Session) -> None:
    """In a quiet run a line says how far it is, where a person looks on."""
    CHOSEN.progress = Progress(sys.stderr, len(session.items)) if CHOSEN.quiet else None


def pytest_runtest_logfinish() -> None:
    """Count a test for that line."""
    if CHOSEN.progress is not None:
        CHOSEN.progress.add()


def pytest_sessionfinish() -> None:
    """Take the line away."""
    if CHOSEN.progress is not None:
        CHOSEN.progress.end()
        CHOSEN.progress = None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count a test once: its call, or the setup that ended it."""
    if CHOSEN.progress is not None and report.failed:
        CHOSEN.progress.failed += 1
    kit = getattr(report, "kit", None)
    if kit is None or not (report.when == "call" or report.outcome != "passed"):
        return
    op = None if kit["op"] is None else tuple(kit["op"])
    RESULTS.add(kit["test"], op, *_state(report, kit["error"]))


def _state(report: pytest.TestReport, error: str) -> tuple[str, str]:
    """How a test ended, and what there is to say."""
    reason = getattr(report, "wasxfail", None)
    if report.outcome == "skipped" and reason is not None:
        return "expected", f"{reason}\n{error}"
    if report.outcome == "passed":
        return "passed", ""
    if report.outcome == "skipped":
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        return "skipped", why.removeprefix("Skipped: ")
    missing = "NoKernelError" in error
    return "missing" if missing else "failed", error or str(report.longrepr)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """In a quiet run no test leaves a sign on the terminal."""
    if not CHOSEN.quiet:
        return None
    if hasattr(report, "wasxfail"):
        return "xfailed", "", ""
    return report.outcome if report.when == "call" or report.skipped else "", "", ""


def _order(problem: tuple[str, str, str]) -> int:
    """Faults of the runtime first, then those of plain calls: they explain others."""
    test = problem[1].partition("[")[0]
    places = (*RULES, *FUNCTION_TESTS)
    return places.index(test) if test in places else -1


def private_names() -> list[str]:
    """The backend's lines that use what is not for backends: they work, but not for ever."""
    found = findings(entry_of(CHOSEN.device))
    lines = [f"warning: {each}" for each in found[:_LISTED]]
    if len(found) > _LISTED:
        rest = len(found) - _LISTED
        lines.append(f"... and {rest} more; mindtorch doctor {CHOSEN.device} lists them all")
    return ["", *lines] if lines else []


def served() -> list[str]:
    """Who computed the ops of the run, in words: kernels of the device, compositions, the CPU."""
    ways = {each.op.removeprefix("aten::"): each.served for each in coverage(CHOSEN.device).ops}
    found = Counter(ways[op] for op in RESULTS.ops if op in ways)
    left = {name.removeprefix("aten::"): n for name, n in SERVED.items()}
    parts = [f"{found['kernel']} ops by kernels of {CHOSEN.device}"]
    parts.append(f"{found['decomposition']} by compositions")
    parts.append(f"{found['fallback'] + found['host']} left to the CPU")
    lines = [f"served: {', '.join(parts)}"]
    if left:
        most = ", ".join(f"{op} {n}" for op, n in Counter(left).most_common(6))
        more = f", and {len(left) - 6} more" if len(left) > 6 else ""
        lines.append(
            f"the CPU computed {sum(left.values())} calls of {len(left)} ops: {most}{more}"
        )
    return lines


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table, the failures, and where the page is."""
    write = terminalreporter.write_line
    for report in terminalreporter.stats.get("error", ()):
        if isinstance(report, pytest.CollectReport):
            write(f"no tests could be made: {report.longreprtext.splitlines()[-1]}")
    if not (RESULTS.ops or RESULTS.others):
        return
    terminalreporter.section(f"conformance of {CHOSEN.device}, level {CHOSEN.level}")
    for line in RESULTS.table():
        write(line)
    found = sorted(RESULTS.problems("failed", "missing"), key=_order)
    if found:
        write("")
    for state, test, message in found[:_LISTED]:
        first, *rest = message.splitlines() or [""]
        write(f"{state}: {test}: {first:.240}")
        for line in rest:
            if line.startswith(_TELLING):
                write(f"  {line:.240}")
    if len(found) > _LISTED:
        option = "--html" if CHOSEN.quiet else "--conformance-html"
        write(f"... and {len(found) - _LISTED} more; {option} FILE lists them all")
    for line in ("", *served(), *private_names()):
        write(line)
    if CHOSEN.page:
        write_page(CHOSEN.page, RESULTS, CHOSEN.device, CHOSEN.level)
        write(f"page: {CHOSEN.page}")
