"""Files of TensorBoard's projector: vectors, their labels and pictures, and a list of what there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

from . import pictures

__all__ = ["add"]


def add(
    config: Any,
    folder: Path,
    mat: Any,
    metadata: Sequence[Any] | None,
    label_img: Any,
    global_step: int,
    tag: str,
    metadata_header: Sequence[str] | None,
) -> Any:
    """Write an embedding's files, and the list with it; see `SummaryWriter.add_embedding`.

    Raises:
        AssertionError: if it is no matrix, or labels or pictures are not as many as its rows.
    """
    config = ProjectorConfig() if config is None else config
    rows = pictures.array(mat)
    if rows.dim() != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    encoded = "".join(c if c.isalnum() or c in "-_. " else f"%{ord(c):02x}" for c in tag)
    below = f"{global_step:05}/{encoded}"
    (folder / below).mkdir(parents=True, exist_ok=True)
    info = EmbeddingInfo(tensor_name=f"{tag}:{global_step:05}", tensor_path=f"{below}/tensors.tsv")
    lines = ["\t".join(map(str, row)) for row in rows.tolist()]
    _write(folder / info.tensor_path, lines)
    if metadata is not None:
        if len(metadata) != len(lines):
            raise AssertionError("#labels should equal with #data points")
        info.metadata_path = f"{below}/metadata.tsv"
        named = [str(each) for each in metadata]
        if metadata_header:
            if len(metadata_header) != len(metadata[0]):
                raise AssertionError(
                    "len of header must be equal to the number of columns in metadata"
                )
            named = ["\t".join(map(str, each)) for each in (metadata_header, *metadata)]
        _write(folder / info.metadata_path, named)
    if label_img is not None:
        shown = pictures.array(label_img)
        if shown.shape[0] != len(lines):
            raise AssertionError("#images should equal with #data points")
        info.sprite.image_path = f"{below}/sprite.png"
        info.sprite.single_image_dim.extend([shown.shape[3], shown.shape[2]])
        (folder / info.sprite.image_path).write_bytes(pictures.png(_sprite(shown)))
    config.embeddings.append(info)
    _write(folder / "projector_config.pbtxt", [text_format.MessageToString(config).rstrip("\n")])
    return config


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sprite(images: Any) -> Any:
    """Pictures (N, C, H, W) in a square of rows, as bytes (H, W, C)."""
    n, channels, height, width = images.shape
    side = math.ceil(n**0.5)
    size = side * max(height, width)
    canvas = images.new_zeros((channels, size, size))
    for i, image in enumerate(images.unbind(0)):
        top, left = i // side * height, i % side * width
        canvas[:, top : top + height, left : left + width] = image
    return pictures.pixels(pictures.laid_out(canvas, "CHW"))
