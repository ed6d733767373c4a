"""Examine what backends need, such as libraries, drivers and devices, and say what is missing.

Without a name all installed backends are examined, and what a report of a fault needs is listed: the
system, Python, versions, threads, variables of the environment. The exit status is 1 if a backend cannot
be used.
Lines of a backend that use private names of the core are listed with the public name; they work today,
and may not with the next release.

Examples:
  mindtorch doctor
  mindtorch doctor cpu
"""

from __future__ import annotations

import argparse

from ..dispatch.nearest import suggestion
from .usage import UsageError, add_json, print_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "backends", metavar="BACKEND", nargs="*", help="names of installed backends (default: all)"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 if a backend cannot be used."""
    from ..plugins import backends

    installed = [status.name for status in backends()]
    for name in options.backends:
        if name not in installed:
            raise UsageError(
                f"no backend {name!r} is installed (installed: {', '.join(installed) or 'none'})"
                f"{suggestion(name, installed)}"
            )
    from ..ecosystem.utilities.collect_env import get_env_info, pretty_str

    environment = None if options.backends else get_env_info()
    reports = [_examined(name) for name in options.backends or installed]
    if options.json:
        known = None if environment is None else environment._asdict()
        print_json({"environment": known, "backends": reports})
    else:
        about = [] if environment is None else [pretty_str(environment)]
        print("\n\n".join([*about, *map(_as_text, reports)]))
    return 0 if all(report["healthy"] for report in reports) else 1


def _examined(name: str) -> dict[str, object]:
    """What is known of one installed backend."""
    from ..plugins import backends, diagnose
    from ..plugins.loader import entry_point
    from ..plugins.private_names import findings
    from ..values.errors import BackendUnavailableError

    (status,) = [each for each in backends() if each.name == name]
    try:
        found = diagnose(name)
        healthy, text = found.healthy, found.text
    except BackendUnavailableError as error:
        healthy, text = False, str(error)
    return {
        "backend": name,
        "distribution": status.distribution,
        "healthy": healthy,
        "text": text,
        "private": [str(each) for each in findings(entry_point(name))],
    }


def _as_text(report: dict[str, object]) -> str:
    head = f"{report['backend']}: {report['distribution']}"
    verdict = "can be used" if report["healthy"] else "CANNOT be used"
    lines = str(report["text"]).splitlines()
    private = report["private"]
    if isinstance(private, list) and private:
        lines += ["uses what is not for backends:", *(f"  {line}" for line in private)]
    return "\n".join([f"{head}, {verdict}", *(f"  {line}".rstrip() for line in lines)])
