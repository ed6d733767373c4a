"""Test an installed backend: registration, memory, copies, queues, every op, gradients and more.

The levels are smoke (seconds), core (minutes) and full. The exit status is 0 if everything passes
but what the backend's distribution declares to fail, and 1 if something else fails, or passes that
was declared to fail.

Examples:
  mindtorch verify acme
  mindtorch verify acme --level smoke -k copies
  mindtorch verify acme --no-fallback --shard 1/4
  mindtorch verify acme --level full --html acme.html --junit acme.xml
  mindtorch verify --communicator mpi -n 4
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from .usage import (
    UsageError,
    add_json,
    add_modules,
    import_modules,
    output_aside,
    print_json,
)

__all__ = ["add_arguments", "run"]

_KIT = "mindtorch_core.testing.conformance"
# Statuses of pytest: for arguments that it does not understand, and if no test was chosen.
_UNUSABLE, _NO_TESTS = 4, 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    device = parser.add_argument(
        "device", metavar="DEVICE", nargs="?", help="the device to test, such as acme"
    )
    device.required = False
    parser.add_argument(
        "--communicator", metavar="NAME", help="test a communicator in place of a device"
    )
    parser.add_argument("-n", dest="count", type=int, help="with how many processes (default: 2)")
    parser.add_argument(
        "--level",
        choices=("smoke", "core", "full"),
        help="how much is tested (default: core)",
    )
    parser.add_argument("--html", metavar="FILE", help="write a page: results of every op by dtype")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML")
    parser.add_argument(
        "-k", dest="chosen", metavar="EXPRESSION", help="only tests whose ids match, as in pytest"
    )
    parser.add_argument(
        "--no-fallback",
        action="store_true",
        help="a test in which the CPU computed an op for the device fails",
    )
    parser.add_argument("--shard", metavar="I/N", help="run part I of N, on several machines")
    add_modules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the tests; 0 if all is as declared, 1 if not."""
    if options.communicator is not None:
        return _verify_communicator(options)
    if options.device is None:
        raise UsageError("name a device, or a communicator by --communicator")
    options.level, options.shard = options.level or "core", options.shard or "1/1"
    if options.count is not None:
        raise UsageError("-n is for communicators; --shard I/N divides the tests of a device")
    if importlib.util.find_spec("pytest") is None:
        raise UsageError("the tests need pytest: pip install pytest")
    import pytest

    from ..values.devices import row_of

    for file in (options.html, options.junit):
        if file is not None and not Path(file).absolute().parent.is_dir():
            raise UsageError(f"cannot write {file!r}: its folder does not exist")
    import_modules(options.modules)
    try:
        row = row_of(options.device)
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from None
    _check_devices(options.device, row.runtime)

    from ..testing.conformance.options import CHOSEN, shard_of

    try:
        shard_of(options.shard)
    except ValueError as error:
        raise UsageError(str(error)) from None
    CHOSEN.quiet = True
    with output_aside(options.json):
        status = int(pytest.main(_arguments(options)))
    if status == _UNUSABLE:
        raise UsageError("pytest refuses the arguments, for the reason above")
    if status == _NO_TESTS and CHOSEN.emptied:
        print(
            f"part {options.shard} has no test: there are fewer tests than parts", file=sys.stderr
        )
        status = 0
    elif status == _NO_TESTS:
        raise UsageError(f"no test matches -k {options.chosen!r} at the level {options.level}")
    if options.json:
        from ..testing.conformance.page import report
        from ..testing.conformance.plugin import RESULTS

        print_json({"status": status, **report(RESULTS, options.device, options.level)})
    return status


def _check_devices(device: str, runtime: Any) -> None:
    """Refuse to test a backend without a device: every test would fail, each for the same reason.

    Raises:
        UsageError: if there is none, or the backend cannot look for one.
    """
    from ..plugins.loader import entry_of

    try:
        why = "" if runtime.device_count() else "its backend found none"
    except Exception as error:  # noqa: BLE001 (a plugin may raise anything)
        why = f"device_count() raised {type(error).__name__}: {' '.join(str(error).split())}"
    if why:
        raise UsageError(
            f"no device of type '{device}' can be used here: {why}; "
            f"`mindtorch doctor {entry_of(device).name}` says what is missing"
        )


def _verify_communicator(options: argparse.Namespace) -> int:
    """Run the checks of communicators in several processes."""
    from ..communication.engines import engine
    from .launch import launch

    if unused := [name for name, given in _of_devices(options).items() if given]:
        raise UsageError(f"{', '.join(unused)}: that is of devices, not of communicators")
    count = 2 if options.count is None else options.count
    if count < 1:
        raise UsageError(f"-n wants a number of processes, got {count}")
    try:
        engine(options.communicator)
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from None
    program = [sys.executable, "-m", "mindtorch_core.testing.communicators", options.communicator]
    program += [name.strip() for name in options.chosen.split(" or ")] if options.chosen else []
    if not options.json:
        return launch(program, os.environ, count)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        with output_aside():
            status = launch([*program, f"--results={results}"], os.environ, count)
        checks = json.loads(results.read_text("utf-8")) if results.exists() else {}
    about = {"communicator": options.communicator, "processes": count}
    print_json({"status": status, **about, "checks": checks})
    return status


def _of_devices(options: argparse.Namespace) -> dict[str, bool]:
    """What only the tests of a device take, and whether it is given."""
    return {
        f"the device {options.device!r}": options.device is not None,
        "--level": options.level is not None,
        "--html": options.html is not None,
        "--junit": options.junit is not None,
        "--no-fallback": options.no_fallback,
        "--shard": options.shard is not None,
    }


def _arguments(options: argparse.Namespace) -> list[str]:
    """What pytest is told. The settings of the folder that the command runs in have no part."""
    kit = Path(str(importlib.util.find_spec(_KIT).origin)).parent  # type: ignore[union-attr]
    given = ["-c", os.devnull, "--rootdir", str(kit), str(kit / "test_installed.py")]
    given += ["-p", f"{_KIT}.plugin", "-p", "no:cacheprovider", "-W", "error"]
    given += ["--assert=plain"]  # the framework is imported already: too late to rewrite it
    given += ["--no-header", "--tb=no", "-rN", "-q", "--device", options.device]
    given += ["--level", options.level]
    given += ["--conformance-shard", options.shard]
    if options.no_fallback:
        given += ["--no-fallback"]
    if options.html is not None:
        given += ["--conformance-html", str(Path(options.html).absolute())]
    if options.junit is not None:
        given += ["--junitxml", str(Path(options.junit).absolute())]
    if options.chosen is not None:
        given += ["-k", options.chosen]
    return given
