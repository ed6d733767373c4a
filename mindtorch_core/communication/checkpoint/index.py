"""What lies in the folder of a checkpoint.

Each rank that has something to write writes a safetensors file, and a second file of objects that are no
tensors, one after the other as `torch.save` writes each; both are named by the save and the rank.
``index.json`` says which belong to the checkpoint, and where in them each value is::

    {"format": "mindtorch.checkpoint", "version": 2, "save": "9f2c...",
     "tensors": {"model.0.weight": {"dtype": "float32", "shape": [7, 5], "chunks": [
         {"offset": [0, 0], "sizes": [4, 5], "file": "9f2c...-00000.safetensors",
          "key": "model.0.weight@0", "crc32": 123}, ...]}},
     "objects": {"epoch": {"file": "9f2c...-00000.objects", "start": 0, "size": 500, "crc32": 456}},
     "files": {"9f2c...-00000.safetensors": 4096, ...},
     "paths": {"model.0.weight": ["model", "0.weight"], "epoch": ["epoch"]}}

``paths`` says where in the nested state each name was; what a planner of a program's own keeps in its
place is in a file of its own, which ``planner`` names. The index is put in place last and at once: until
then the folder holds the checkpoint before, whole. Files that no index names are left over from a save that
was interrupted; the next one removes them before it writes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ...serialization import load as load_object
from ...values.dtypes import DTYPES, FLOAT8
from ...values.shapes import Size
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)

__all__ = ["INDEX", "Place", "are_paths", "read_index", "remove_leftovers", "write_index"]

INDEX: Final = "index.json"
_FORMAT: Final = "mindtorch.checkpoint"
_VERSION: Final = 2
_DATA: Final = re.compile(r"[0-9a-f]{16}-(\d{5}\.(safetensors|objects)|planner)(\.part)?")


@dataclass(frozen=True)
class Place:
    """Where a value is.

    Attributes:
        file: its name.
        crc32: of its bytes.
        key: of a tensor, the name in the file.
        start, size: of an object, where its bytes begin, and how many there are.
        whole: the size of the file.
    """

    file: str
    crc32: int
    key: str = ""
    start: int = 0
    size: int = 0
    whole: int = 0


def sync_folder(path: Path) -> None:
    """Have the names in a folder outlive a failure of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ---- writing -------------------------------------------------------------------------------------


def are_paths(data: Any) -> bool:
    """Whether a planner's data are what the index can say."""
    return data is None or (
        isinstance(data, dict)
        and all(isinstance(name, str) and isinstance(path, tuple) for name, path in data.items())
        and {type(key) for path in data.values() for key in path} <= {str, int}
    )


def write_index(
    folder: Path, found: Metadata, *, sync: bool, planner: Mapping[str, int] | None = None
) -> None:
    """Make files the checkpoint of a folder, and remove those of others.

    Args:
        folder: of the checkpoint.
        found: what it holds, with the `Place` of each value.
        sync: whether it is on the disk before this returns.
        planner: the file of the planner's data, and its size, unless the index says what they are.

    Raises:
        ValueError: if there is no place of a value.
    """
    places: Mapping[MetadataIndex, Place] = found.storage_data
    files = {place.file: place.whole for place in places.values()} | dict(planner or {})
    text = {
        "format": _FORMAT,
        "version": _VERSION,
        "save": found.storage_meta and found.storage_meta.save_id,
        **_told(found, places),
        "files": files,
        "paths": None if planner else found.planner_data,
        "planner": next(iter(planner), "") if planner else "",
    }
    part = folder / f"{INDEX}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(text, file)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    if sync:
        sync_folder(folder)
    part.replace(folder / INDEX)
    if sync:
        sync_folder(folder)
    _remove_others(folder, files)


def remove_leftovers(folder: Path) -> None:
    """Remove what saves that have failed have left in a folder, so that it takes no room.

    Args:
        folder: of checkpoints; where its index cannot be read, nothing is removed.
    """
    files: Mapping[str, int] = {}
    if (folder / INDEX).exists():
        try:
            files = json.loads((folder / INDEX).read_text("utf-8"))["files"]
        except (ValueError, KeyError, TypeError):
            return
    _remove_others(folder, files)


def _remove_others(folder: Path, files: Mapping[str, int]) -> None:
    for each in folder.iterdir():
        if _DATA.fullmatch(each.name) and each.name not in files:
            each.unlink(missing_ok=True)


def _told(found: Metadata, places: Mapping[MetadataIndex, Place]) -> dict[str, Any]:
    tensors, objects = {}, {}
    for name, entry in found.state_dict_metadata.items():
        if isinstance(entry, BytesStorageMetadata):
            place = _place(places, MetadataIndex(name))
            objects[name] = {k: v for k, v in asdict(place).items() if k not in ("key", "whole")}
            continue
        chunks = []
        for chunk in entry.chunks:
            place = _place(places, MetadataIndex(name, chunk.offsets))
            box = {"offset": [*chunk.offsets], "sizes": [*chunk.sizes]}
            chunks.append({**box, "file": place.file, "key": place.key, "crc32": place.crc32})
        kind = str(entry.properties.dtype).removeprefix("torch.")
        tensors[name] = {"dtype": kind, "shape": [*entry.size], "chunks": chunks}
    return {"tensors": tensors, "objects": objects}


def _place(places: Mapping[MetadataIndex, Place], index: MetadataIndex) -> Place:
    if index not in places:
        raise ValueError(f"nobody has written {index.fqn} at {index.offset}")
    return places[index]


# ---- reading -------------------------------------------------------------------------------------


def read_index(folder: Path) -> Metadata:
    """What a folder's index says, and that its files are there.

    Raises:
        FileNotFoundError: if there is no index, or a file is missing.
        RuntimeError: if it is damaged, or a file has another size.
    """
    path = folder / INDEX
    try:
        written = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"there is no checkpoint in {folder}: it has no {INDEX}, which is written last"
        ) from None
    try:
        read = json.loads(written.decode("utf-8"))
        if read["format"] != _FORMAT or read["version"] != _VERSION:
            raise ValueError(f"its format is not {_FORMAT} of version {_VERSION}")
        found = _heard(folder, read)
        files = dict(read["files"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(f"{path} is damaged: {error}") from error
    for name, size in files.items():
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


def _heard(folder: Path, read: Mapping[str, Any]) -> Metadata:
    values: dict[str, Any] = {}
    places: dict[MetadataIndex, Place] = {}
    for name, entry in read["tensors"].items():
        chunks = []
        for number, each in enumerate(entry["chunks"]):
            chunk = ChunkStorageMetadata(Size(each["offset"]), Size(each["sizes"]))
            chunks.append(chunk)
            index = MetadataIndex(name, chunk.offsets, number)
            places[index] = Place(each["file"], each["crc32"], each["key"])
        like = TensorProperties((DTYPES | FLOAT8)[entry["dtype"]])
        values[name] = TensorStorageMetadata(like, Size(entry["shape"]), chunks)
    for name, place in read["objects"].items():
        values[name] = BytesStorageMetadata()
        places[MetadataIndex(name)] = Place(**place)
    data: Any = read["paths"]
    if data is not None:
        data = {name: tuple(path) for name, path in data.items()}
    elif read["planner"]:
        data = load_object(folder / read["planner"], map_location="cpu")
    about = StorageMeta(checkpoint_id=folder, save_id=read["save"])
    return Metadata(values, data, places, about, str(_VERSION))
