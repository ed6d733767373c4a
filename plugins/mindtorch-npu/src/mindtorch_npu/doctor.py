"""What ``mindtorch doctor npu`` tells: which toolkit was found, what of it works, what to do.

``python -m mindtorch_npu.doctor`` prints the same.
"""

from __future__ import annotations

import ctypes
import sys
import textwrap
from collections.abc import Iterable

from mindtorch_core.backend import device
from mindtorch_core.plugins import Diagnosis

from . import acl_loader
from .acl import PROTOTYPES, acl
from .acl_loader import Report, ToolkitError
from .aclnn import available, operators

__all__ = ["diagnose"]


def diagnose() -> Diagnosis:
    """Look for the toolkit, load it and ask it for devices."""
    trouble = ""
    try:
        acl_loader.load()
    except ToolkitError as error:
        problem = (
            error.problem if acl_loader.find() is not None else "no usable CANN toolkit was found."
        )
        trouble = f"{problem}\n  fix: {error.fix}."
    report = acl_loader.report()
    lines = [*_searched(report), *_opened(report)]
    lines += [f"warning: {warning}" for warning in report.warnings]
    if not trouble:
        lines += _symbols()
        devices, trouble = _devices()
        lines += devices
    if trouble:
        lines += ["", *trouble.splitlines()]
    return Diagnosis(not trouble, "\n".join(lines))


def _searched(report: Report) -> Iterable[str]:
    yield "searched for a CANN toolkit in"
    for place in report.searched:
        used = report.toolkit is not None and place.toolkit == report.toolkit
        verdict = place.reason or ("used" if used else "not used, an earlier one is")
        yield f"  {place.path} ({place.source}): {verdict}"
    if report.toolkit is not None:
        yield f"toolkit: CANN {report.toolkit.version} in {report.toolkit.root}"


def _opened(report: Report) -> Iterable[str]:
    if report.opened:
        yield "libraries"
    for library in report.opened:
        state = "loaded" if library.loaded else f"not loaded: {library.error}"
        kind = "" if library.loaded or library.required else " (can be done without)"
        yield f"  {library.path or library.name}: {state}{kind}"


def _symbols() -> Iterable[str]:
    missing = [name for name in PROTOTYPES if not hasattr(acl, name)]
    yield f"functions: {len(PROTOTYPES) - len(missing)} of {len(PROTOTYPES)}"
    yield from _listed("missing, an error where they are used", missing)
    names = operators()
    absent = [name for name in names if not available(name)]
    yield f"operators: {len(names) - len(absent)} of {len(names)}"
    yield from _listed("missing, computed in other ways or on the CPU", absent)
    replaced = [
        n for n in names if any(hasattr(lib, f"aclnn{n}") for lib in acl_loader.load().custom)
    ]
    yield from _listed("taken from custom packages", replaced)


def _listed(head: str, names: list[str]) -> list[str]:
    if not names:
        return []
    text = f"{head}: {', '.join(names)}"
    return textwrap.wrap(text, 96, initial_indent="  ", subsequent_indent="    ")


def _devices() -> tuple[list[str], str]:
    """Lines about the devices, and what is wrong with them."""
    from .runtime import RUNTIME

    lines = []
    try:
        version = [ctypes.c_int32() for _ in range(3)]
        if not acl.aclrtGetVersion(*map(ctypes.byref, version)):
            lines.append(f"interface of the runtime: {'.'.join(str(v.value) for v in version)}")
        count = RUNTIME.device_count()
        if not count:
            RUNTIME.concrete_device(device("npu", 0))  # raises, and tells why there is none
        lines.append(f"chip: {RUNTIME.name()}")
        for index in range(count):
            free, total = RUNTIME.memory_info(device("npu", index))
            lines.append(f"device npu:{index}: {_gib(free)} of {_gib(total)} free")
    except RuntimeError as error:
        return lines, str(error)
    return lines, ""


def _gib(nbytes: int) -> str:
    return f"{nbytes / (1 << 30):.1f} GiB"


def main() -> int:
    """Print the diagnosis; the exit status is 1 if NPUs cannot be used."""
    found = diagnose()
    print(found.text)
    return 0 if found.healthy else 1


if __name__ == "__main__":
    sys.exit(main())
