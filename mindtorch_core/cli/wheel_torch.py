"""Write a wheel named torch whose package is mindtorch, so that pip and uv ask for no PyTorch.

Packages such as accelerate require torch. Where this wheel is installed, that is satisfied: 'import torch' is
mindtorch. It is for this machine or a private index; it must never be uploaded.

Examples:
  mindtorch wheel-torch            # into the current folder
  mindtorch wheel-torch wheels && pip install wheels/torch-*.whl accelerate
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import zipfile
from pathlib import Path

from .run import FOLDER
from .usage import UsageError, add_json, print_json

__all__ = ["add_arguments", "run", "write_wheel"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="where the wheel goes (default: here)",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the wheel and print its path."""
    folder = Path(options.folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{options.folder!r} is not a folder")
    folder.mkdir(parents=True, exist_ok=True)
    made = write_wheel(folder)
    if options.json:
        print_json({"wheel": str(made)})
    else:
        print(made)
    return 0


def write_wheel(folder: Path) -> Path:
    """Write the wheel into a folder; two times give the same bytes."""
    from .. import __version__
    from ..ecosystem.torch_version import __version__ as version

    name = f"torch-{version}"
    own = str(__version__)
    own = own.rpartition("mindtorch.")[2]
    info = f"{name}.dist-info"
    metadata = (FOLDER / info / "METADATA").read_text(encoding="utf-8").rstrip("\n")
    files = {
        f"{package}/{path.name}": path.read_text(encoding="utf-8")
        for package in ("torch", "functorch")
        for path in sorted((FOLDER / package).iterdir())
        if path.is_file()
    }
    files[f"{info}/METADATA"] = f"{metadata}\nRequires-Dist: mindtorch~={own}\n"
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: mindtorch {own}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    made = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return made


def _record(files: dict[str, str], own: str) -> str:
    """The list of files with their hashes, as wheels have it."""
    lines = []
    for path, text in files.items():
        data = text.encode("utf-8")
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(data)}")
    return "\n".join([*lines, f"{own},,\n"])
