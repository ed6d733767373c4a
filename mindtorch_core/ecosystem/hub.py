"""``torch.hub``: files and models from the network, kept in a folder of the user's."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from ..serialization import load as _load_file
from ..values.own_frames import refusing
from .progress import tqdm

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
    "tqdm",
]

HASH_REGEX: Final = re.compile(r"-([a-f0-9]*)\.")
ENV_TORCH_HOME: Final = "TORCH_HOME"
MODULE_HUBCONF: Final = "hubconf.py"
READ_DATA_CHUNK: Final = 1 << 17
_folder: Final[dict[str, str]] = {}


def _get_torch_home() -> str:
    """The folder of what is kept: ``TORCH_HOME``, or ``torch`` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of downloads."""
    return _folder.get("hub") or os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloads."""
    _folder["hub"] = os.path.expanduser(d)


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what a URL gives to a file, which appears only when it is complete.

    Args:
        url: where it is.
        dst: the file.
        hash_prefix: how the SHA-256 of the content must begin.
        progress: write how far it is to standard error.

    Raises:
        RuntimeError: if the content has another hash.
        URLError: if it cannot be reached.
    """
    target = Path(dst).expanduser()
    digest = hashlib.sha256()
    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source:
        handle, name = tempfile.mkstemp(prefix=target.name, suffix=".partial", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                while chunk := source.read(READ_DATA_CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    if progress:
                        print(f"\r{file.tell()} bytes of {url}", end="", file=sys.stderr)
            if progress:
                print(file=sys.stderr)
            if hash_prefix and digest.hexdigest()[: len(hash_prefix)] != hash_prefix:
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
                )
            shutil.move(name, target)
        finally:
            Path(name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load what a URL gives with `torch.load`; it is downloaded once.

    Args:
        url: where it is.
        model_dir: where it is kept; by default ``checkpoints`` in `get_dir`'s folder.
        map_location: as in `torch.load`.
        progress: write how far it is to standard error.
        check_hash: the file's name holds the beginning of its hash, as ``name-<hash>.pth``.
        file_name: under which it is kept.
        weights_only: read as tensors in any case; see `torch.load`.

    Raises:
        URLError: if it is not kept and cannot be reached.
    """
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    kept = folder / name
    if not kept.exists():
        print(f'Downloading: "{url}" to {kept}\n', file=sys.stderr)
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, str(kept), found[1] if found else None, progress=progress)
    return _load_file(kept, map_location=map_location)


# ---- models of a repository ----------------------------------------------------------------------


def _repository(repo_or_dir: Any, source: str) -> Path:
    """The folder of a repository on this machine.

    Raises:
        NotImplementedError: for one in the network.
        ValueError: for a source that there is not.
    """
    if source == "local":
        return Path(os.path.expanduser(repo_or_dir))
    if source == "github":
        _refuse(str(repo_or_dir))
    raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')


def _refuse(repository: str) -> NoReturn:
    raise NotImplementedError(
        f"mindtorch fetches no code from the network: clone {repository} yourself, and give its folder "
        f"with source='local'"
    )


def _configuration(folder: Path) -> ModuleType:
    """The module ``hubconf.py`` of a folder, executed anew.

    Raises:
        RuntimeError: for a package that it needs and that is missing.
    """
    from importlib.util import find_spec, module_from_spec, spec_from_file_location

    spec = spec_from_file_location(MODULE_HUBCONF, folder / MODULE_HUBCONF)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    missing = [name for name in getattr(module, "dependencies", []) if find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: ModuleType, name: str) -> Callable[..., Any]:
    found: Any = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found  # type: ignore[no-any-return]  # callable, as was asked


@refusing
def load(repo_or_dir: Any, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Call an entry of a repository's ``hubconf.py``.

    Args:
        repo_or_dir: a folder, with ``source="local"``.
        model: the entry's name.
        args: its arguments.
        source: ``local``; nothing is fetched from ``github``.
        kwargs: its arguments by name; those of PyTorch's for repositories in the network are ignored.

    Raises:
        NotImplementedError: for a repository in the network.
        RuntimeError: if there is no such entry.
    """
    for name in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(name, None)
    return _entry(_configuration(_repository(repo_or_dir, source)), model)(*args, **kwargs)


@refusing
def list(github: Any, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """Names of the entries of a repository's ``hubconf.py``."""
    module = _configuration(_repository(github, source))
    return [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]


@refusing
def help(github: Any, model: str, *args: Any, source: str = "github", **kwargs: Any) -> str | None:
    """The docstring of an entry of a repository's ``hubconf.py``."""
    return _entry(_configuration(_repository(github, source)), model).__doc__
