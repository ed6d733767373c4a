"""What lies in the folder of a checkpoint.

Each rank that has something to write writes a safetensors file, and a second file of objects that are no
tensors; both are named by the save and the rank. ``index.json`` says which belong to the checkpoint::

    {"format": "mindtorch.checkpoint", "version": 1, "save": "9f2c...", "ranks": 2,
     "tensors": {"model.0.weight": {"dtype": "float32", "shape": [7, 5], "chunks": [
         {"file": "9f2c...-00000.safetensors", "key": "model.0.weight@0,0", "offset": [0, 0],
          "sizes": [4, 5], "crc32": 123}, ...]}},
     "objects": {"epoch": "9f2c...-00000.objects"},
     "files": {"9f2c...-00000.safetensors": 4096, ...}}

It is put in place last and at once: until then the folder holds the checkpoint before, whole. Files that no
index names are left over from a save that was interrupted; the next one removes them.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

__all__ = ["INDEX", "Chunk", "Entry", "Metadata", "read_index", "write_index"]

INDEX: Final = "index.json"
_FORMAT: Final = "mindtorch.checkpoint"
_VERSION: Final = 1
_DATA: Final = re.compile(r"[0-9a-f]{16}-\d{5}\.(safetensors|objects)(\.part)?")


@dataclass
class Chunk:
    """A box of a tensor, in a file.

    Attributes:
        offset: where in the tensor it begins.
        sizes: its shape.
        file: its name.
        key: the name in the file.
        crc32: of its bytes.
    """

    offset: list[int]
    sizes: list[int]
    file: str = ""
    key: str = ""
    crc32: int = 0


@dataclass
class Entry:
    """A tensor.

    Attributes:
        dtype: its name.
        shape: of the whole.
        chunks: boxes that cover it.
    """

    dtype: str
    shape: list[int]
    chunks: list[Chunk] = field(default_factory=list)


@dataclass
class Metadata:
    """What a checkpoint holds.

    Attributes:
        save: a name of the save, another one each time.
        ranks: how many processes have written it.
        tensors: by name.
        objects: files by the names of objects in them.
        files: sizes by name.
    """

    save: str
    ranks: int
    tensors: dict[str, Entry] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)

    @property
    def state_dict_metadata(self) -> dict[str, Any]:
        """What is known of each name: an `Entry` of tensors, None of objects."""
        return {**self.tensors, **dict.fromkeys(self.objects)}


def sync_folder(path: Path) -> None:
    """Have the names in a folder outlive a failure of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_index(folder: Path, found: Metadata, *, sync: bool) -> None:
    """Make files the checkpoint of a folder, and remove those of others."""
    part = folder / f"{INDEX}.part"
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(found)})
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    if sync:
        sync_folder(folder)
    part.replace(folder / INDEX)
    if sync:
        sync_folder(folder)
    for each in folder.iterdir():
        if _DATA.fullmatch(each.name) and each.name not in found.files:
            each.unlink(missing_ok=True)


def read_index(folder: Path) -> Metadata:
    """What a folder's index says, and that its files are there.

    Raises:
        FileNotFoundError: if there is no index, or a file is missing.
        RuntimeError: if it is damaged, or a file has another size.
    """
    path = folder / INDEX
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"there is no checkpoint in {folder}: it has no {INDEX}, which is written last"
        ) from None
    try:
        read = json.loads(text)
        if read.pop("format") != _FORMAT or read.pop("version") != _VERSION:
            raise ValueError(f"its format is not {_FORMAT} of version {_VERSION}")
        tensors = {
            name: Entry(e["dtype"], e["shape"], [Chunk(**c) for c in e["chunks"]])
            for name, e in read.pop("tensors").items()
        }
        found = Metadata(tensors=tensors, **read)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(f"{path} is damaged: {error}") from error
    for name, size in found.files.items():
        if "/" in name or not _DATA.fullmatch(name):
            raise RuntimeError(f"{path} is damaged: it names the file {name!r}")
        try:
            there = (folder / name).stat().st_size
        except FileNotFoundError:
            raise FileNotFoundError(
                f"the checkpoint in {folder} lacks its file {name}: copy the folder again"
            ) from None
        if there != size:
            raise RuntimeError(
                f"{folder / name} is damaged: it has {there} bytes, and was written with {size}"
            )
    return found
