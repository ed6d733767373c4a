"""Hooks of `DistributedDataParallel` that send gradients as bytes, and how to read them."""

from __future__ import annotations

from typing import Any, Final

from ..dispatch.functions import fn
from ..gradients.grad_mode import no_grad
from ..tensors.tensor import Tensor
from ..values.dtypes import float32, uint8
from .collectives import all_gather
from .futures import Future
from .groups import chosen
from .hooks import GradBucket

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]

_MOST: Final = 255
_SMALLEST: Final = 2.0**-23  # a scale is not less: float32's distance from 1 to the next number


def _scales(rows: Tensor) -> Tensor:
    """For each row its scale and the byte that stands for 0, which cover its least and greatest number."""
    least = rows.amin(1).clamp(max=0.0)
    most = rows.amax(1).clamp(min=0.0)
    scale = fn.div(most - least, float(_MOST)).clamp(min=_SMALLEST)
    zero = (0 - fn.round(least / scale)).clamp(0, _MOST)
    return fn.stack([scale, zero])


def _sent(bucket: GradBucket, group: Any, rows: Tensor) -> Future[Tensor]:
    """The mean of all ranks' rows, each of which travels as bytes."""
    own = chosen(group)
    size, count = own.size(), bucket.buffer().numel()
    scales = _scales(rows)
    every = [fn.empty_like(scales) for _ in range(size)]
    work = all_gather(every, scales, own, async_op=True)
    assert work is not None, "the ranks of DistributedDataParallel are in its group"

    @no_grad()
    def finish(_: Any) -> Tensor:
        scale, zero = (each.unsqueeze(1) for each in scales)
        data = (fn.round(rows / scale) + zero).clamp(0, _MOST).to(uint8)
        found = [fn.empty_like(data) for _ in range(size)]
        all_gather(found, data, own)
        total = fn.zeros_like(rows, dtype=float32)
        for (step, middle), each in zip(every, found, strict=True):
            total.add_(step.unsqueeze(1) * (each.to(float32) - middle.unsqueeze(1)))
        return total.reshape(-1)[:count] / size

    return work.get_future().then(finish)


@no_grad()
def quantization_pertensor_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients, which are sent as bytes with one scale for a bucket."""
    return _sent(bucket, process_group, bucket.buffer().unsqueeze(0))


@no_grad()
def quantization_perchannel_hook(
    process_group: Any, bucket: GradBucket, bucket_size: int = 512
) -> Future[Tensor]:
    """The mean of all processes' gradients, which are sent as bytes with a scale for some numbers each."""
    whole = bucket.buffer()
    more = bucket_size - whole.numel() % bucket_size
    padded = fn.cat([whole, whole.new_zeros([more])])
    return _sent(bucket, process_group, padded.view(-1, bucket_size))
