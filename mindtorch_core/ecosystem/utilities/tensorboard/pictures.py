"""Pictures, films and sounds as bytes that TensorBoard shows, made of tensors."""

from __future__ import annotations

import importlib
import io
import struct
import wave
import zlib
from collections.abc import Sequence
from typing import Any

from ....dispatch.functions import fn
from ....frontend.creation import as_tensor
from ....tensors.tensor import Tensor
from ....values.dtypes import float32, uint8

__all__ = ["array", "drawn", "figure_pixels", "film", "laid_out", "pixels", "png", "sound"]


def array(x: Any) -> Tensor:
    """Values of any kind as a tensor on the CPU, without history."""
    return as_tensor(x).detach().to("cpu")


def _grid(images: Tensor) -> Tensor:
    """Images (N, C, H, W) beside each other, eight in a row, as one (C, H, W)."""
    n, c, h, w = images.shape
    columns = min(n, 8)
    rows = -(-n // columns)
    canvas = images.new_zeros((c, h * rows, w * columns))
    for i, image in enumerate(images.unbind(0)):
        top, left = i // columns * h, i % columns * w
        canvas[:, top : top + h, left : left + w] = image
    return canvas


def laid_out(tensor: Any, dataformats: str) -> Tensor:
    """An image, or several as one, as (H, W, C) with three or four channels.

    Args:
        tensor: the image.
        dataformats: a letter for each dimension, such as ``"CHW"`` or ``"NHWC"``.

    Raises:
        AssertionError: if the letters do not fit the dimensions.
    """
    x, letters = array(tensor), dataformats.upper()
    if len(set(letters)) != len(letters) or len(letters) != x.dim():
        raise AssertionError(
            f"size of input tensor and input format are different: tensor shape: {tuple(x.shape)}, "
            f"input_format: {dataformats}"
        )
    if "C" not in letters:
        x, letters = x.unsqueeze(-1), letters + "C"
    if "N" in letters:
        x = _grid(x.permute([letters.index(each) for each in "NCHW"]))
        letters = "CHW"
    x = x.permute([letters.index(each) for each in "HWC"])
    return fn.cat([x] * 3, 2) if x.shape[2] == 1 else x


def pixels(image: Tensor) -> Tensor:
    """An image's elements as bytes: those of floating point reach from 0 to 1."""
    if image.dtype == uint8:
        return image
    return (image.to(float32) * 255).clamp(0, 255).to(uint8)


def _raw(x: Tensor) -> bytes:
    return x.contiguous().numpy().tobytes()


def png(image: Tensor) -> bytes:
    """A file in PNG of bytes (H, W, C).

    Raises:
        ValueError: for another number of channels than 3 or 4.
    """
    height, width, channels = image.shape
    kinds = {3: 2, 4: 6}
    if channels not in kinds:
        raise ValueError(f"an image has 1, 3 or 4 channels, not {channels}")

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    # Each line begins with the number of its filter, 0 for none.
    lines = fn.cat([image.new_zeros((height, 1)), image.reshape(height, -1)], 1)
    head = struct.pack(">IIBBBBB", width, height, 8, kinds[channels], 0, 0, 0)
    return b"".join(
        [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(_raw(lines))),
         chunk(b"IEND", b"")]
    )  # fmt: skip


def drawn(image: Tensor, boxes: Any, labels: Sequence[str] | None) -> Tensor:
    """An image in bytes with red frames (left, top, right, bottom), and texts if Pillow is there."""
    shown = image.clone()
    height, width = shown.shape[:2]
    red = as_tensor([255, 0, 0, 255][: shown.shape[2]], dtype=uint8)
    corners = [[int(v) for v in box] for box in array(boxes).tolist()]
    for left, top, right, bottom in corners:
        x0, x1 = max(left, 0), min(right + 1, width)
        y0, y1 = max(top, 0), min(bottom + 1, height)
        for y in {top, bottom} & set(range(height)):
            shown[y, x0:x1] = red
        for x in {left, right} & set(range(width)):
            shown[y0:y1, x] = red
    if labels is None:
        return shown
    pillow, draw = importlib.import_module("PIL.Image"), importlib.import_module("PIL.ImageDraw")
    picture = pillow.fromarray(shown.numpy())
    pen = draw.Draw(picture)
    for (left, top, *_), label in zip(corners, labels, strict=True):
        pen.text((left + 2, top + 1), str(label), fill="red")
    return as_tensor(importlib.import_module("numpy").array(picture))


def film(tensor: Any, fps: float) -> tuple[bytes, Tensor]:
    """A file in GIF of frames (N, T, C, H, W), films side by side; and its first frame."""
    x = array(tensor)
    frames = [pixels(laid_out(x[:, t], "NCHW")) for t in range(x.shape[1])]
    pillow = importlib.import_module("PIL.Image")
    pictures = [pillow.fromarray(frame.numpy()) for frame in frames]
    out = io.BytesIO()
    pictures[0].save(
        out, "GIF", save_all=True, append_images=pictures[1:], duration=1000 / fps, loop=0
    )
    return out.getvalue(), frames[0]


def sound(tensor: Any, sample_rate: int) -> bytes:
    """A file in WAV, 16 bits, of samples between -1 and 1."""
    samples = array(tensor).to(float32).squeeze()
    if samples.dim() != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    whole = (samples.clamp(-1, 1) * 32767).tolist()
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(struct.pack(f"<{len(whole)}h", *map(int, whole)))
    return out.getvalue()


def figure_pixels(figure: Any, close: bool) -> Tensor:
    """What matplotlib draws of a figure, or of several, as (H, W, 4) or (N, H, W, 4)."""
    if isinstance(figure, list | tuple):
        return fn.stack([figure_pixels(each, close) for each in figure])
    canvas = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    made: Tensor = as_tensor(importlib.import_module("numpy").array(canvas.buffer_rgba()))
    if close:
        importlib.import_module("matplotlib.pyplot").close(figure)
    return made
