"""The kit as a plugin of pytest: its options, and its report in the terminal and as a page.

pytest loads it when it is asked for the kit by ``--pyargs mindtorch_core.testing.conformance``.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any, Final

import pytest

from ...errors import BackendUnavailableError
from ...plugins.checking import line_of
from ...plugins.loader import entry_of
from .cases import LEVELS, RULES, Case
from .checks import has
from .function_cases import FUNCTION_TESTS, FunctionCase
from .options import CHOSEN
from .page import write_page
from .results import Results, family_of

__all__ = ["RESULTS"]

RESULTS: Final = Results()
_LISTED: Final = 40  # failures named in the terminal


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


def pytest_configure(config: pytest.Config) -> None:
    """Look at the options before tests are collected.

    Raises:
        UsageError: if no device is named, or no backend serves it.
    """
    from ...devices import row_of

    CHOSEN.device, CHOSEN.level = config.getoption("kit_device"), config.getoption("kit_level")
    CHOSEN.page = config.getoption("kit_page")
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


def pytest_report_header() -> list[str]:
    """What is tested, and what it is compared with."""
    return headline()


def headline() -> list[str]:
    """What is tested, and what it is compared with, in words."""
    from ...devices import row_of
    from .pytorch import oracle

    row = row_of(CHOSEN.device)
    torch = oracle() if CHOSEN.level != "smoke" else None
    lines = [f"conformance of '{row.type}', {row.distribution}, level {CHOSEN.level}"]
    cpu = "the CPU backend in float64" if has("cpu") else "no CPU backend is installed: left out"
    lines.append(f"reference: {cpu}" + ("" if torch is None else f"; PyTorch {torch.__version__}"))
    return lines


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
        "error": _told(error),
    }
    return report


def _described(case: Any) -> list[str] | None:
    """Name, family and dtype of the op or function that a test is about; None for other tests."""
    if isinstance(case, FunctionCase):
        return [case.name, "functions", case.dtype]
    return [case.name, family_of(case.op), case.dtype] if isinstance(case, Case) else None


def _told(error: BaseException | None) -> str:
    """An exception as text, with the backend's line that it came from, if any."""
    if error is None:
        return ""
    own = isinstance(error, AssertionError)  # what a check says speaks for itself
    text = str(error) if own else f"{type(error).__name__}: {error}"
    ep, at = entry_of(CHOSEN.device), ""
    cause: BaseException | None = error
    while cause is not None and not at:
        at, cause = line_of(ep, cause), cause.__cause__
    return f"{text} (at {at})" if at else text


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count a test once: its call, or the setup that ended it."""
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
        first = (message.splitlines() or [""])[0]
        write(f"{state}: {test}: {first:.240}")
    if len(found) > _LISTED:
        write(f"... and {len(found) - _LISTED} more; --conformance-html FILE lists them all")
    if CHOSEN.page:
        write_page(CHOSEN.page, RESULTS, CHOSEN.device, CHOSEN.level)
        write(f"page: {CHOSEN.page}")
