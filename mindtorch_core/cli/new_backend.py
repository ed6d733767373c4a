"""Write the package of a new backend: it loads, works and passes the conformance kit's smoke level.

What it has no kernel for is computed on the CPU. Its README says where to go on.

Examples:
  mindtorch new-backend acme
  mindtorch new-backend acme --directory ~/src
"""

from __future__ import annotations

import argparse
import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

from .usage import UsageError, add_json, print_json

__all__ = ["add_arguments", "run"]

# Where each template goes, relative to the new folder.
_FILES: Final = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "ci.yml": ".github/workflows/ci.yml",
    "publish.yml": ".github/workflows/publish.yml",
    "init.py": "src/$package/__init__.py",
    "plugin.py": "src/$package/plugin.py",
    "runtime.py": "src/$package/runtime.py",
    "kernels.py": "src/$package/kernels.py",
    "known_failures.txt": "src/$package/known_failures.txt",
    "test_conformance.py": "tests/test_conformance.py",
    "test_device.py": "tests/test_device.py",
}
_LONGEST: Final = 20  # longer names leave no room in lines of 100 columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="the device's name, such as acme")
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where the folder mindtorch-NAME is made (default: the current folder)",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the package."""
    _check_name(options.name)
    distribution = f"mindtorch-{options.name.replace('_', '-')}"
    folder = options.directory / distribution
    if not options.directory.is_dir():
        raise UsageError(f"there is no folder {str(options.directory)!r} to make {distribution} in")
    if folder.exists():
        raise UsageError(
            f"{str(folder)!r} exists already; choose another --directory, or remove it"
        )
    package = _package(options.name, distribution)
    try:
        for path, text in package.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {error.filename!r}: {error.strerror}") from error
    following = [
        f"pip install -e '{folder}[test]'",
        f"mindtorch verify {options.name} --level smoke",
    ]
    if options.json:
        print_json({"folder": str(folder), "files": list(package), "next": following})
    else:
        print("\n  ".join([f"wrote {folder}\nnext:", *following]))
    return 0


def _check_name(name: str) -> None:
    """Refuse what cannot be the name of a new device.

    Raises:
        UsageError: if it is no name, or one that something else has.
    """
    if not _is_name(name):
        near = re.sub(r"[\W_]+", "_", name.lower().removeprefix("mindtorch-")).strip("_")
        raise UsageError(
            f"{name!r} cannot be a device's name: it is lower-case letters and digits, a letter "
            f"first, in parts joined by single underscores, and no keyword of Python; such as "
            f"{near if _is_name(near) else 'acme'}"
        )
    if len(name) > _LONGEST:
        raise UsageError(f"{name!r} is too long: at most {_LONGEST} letters")
    from ..plugins import backends
    from ..values.devices import KNOWN_TYPES

    for status in backends():
        if name in (status.name, status.device):
            raise UsageError(f"the device {name!r} is supplied by {status.distribution} already")
    if name in KNOWN_TYPES:
        raise UsageError(f"{name!r} is a device that PyTorch knows; choose a name of your own")
    import mindtorch_core

    if name in dir(mindtorch_core):
        raise UsageError(f"torch.{name} is something else already; choose another name")
    if name == "none":
        raise UsageError("MINDTORCH_BACKENDS=none means no backend at all; choose another name")
    if find_spec(f"mindtorch_{name}") is not None:
        raise UsageError(f"a package mindtorch_{name} is installed already; choose another name")


def _is_name(name: str) -> bool:
    """Whether it can be a device's, a package's and a distribution's name."""
    return not keyword.iskeyword(name) and bool(re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name))


def _package(name: str, distribution: str) -> dict[str, str]:
    """Text of each file of the package, by its path."""
    from .. import __version__
    from ..plugins import PLUGIN_API

    words = {
        "device": name,
        "package": f"mindtorch_{name}",
        "distribution": distribution,
        "class_": "".join(part.capitalize() for part in name.split("_")),
        "api": str(PLUGIN_API),
        "core": __version__,
    }
    templates = files(__package__) / "templates" / "backend"
    return {
        Template(path).substitute(words): Template(
            (templates / f"{source}.in").read_text(encoding="utf-8")
        ).substitute(words)
        for source, path in _FILES.items()
    }
