"""The ops of torchvision's library, registered when this is imported.

torchvision registers their gradients itself, by the ops that end in ``_backward``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.library import Library

from .deform_conv import deform_conv2d, deform_conv2d_backward
from .nms import nms
from .roi_align import ps_roi_align, ps_roi_align_backward, roi_align, roi_align_backward
from .roi_pool import ps_roi_pool, ps_roi_pool_backward, roi_pool, roi_pool_backward

__all__ = ["LIBRARY"]

_POOLED = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_CONV = (
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)

_OPS: Final[dict[str, Callable[..., Any] | None]] = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms,
    f"roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio, bool aligned) -> Tensor": roi_align,
    f"_roi_align_backward(Tensor grad, Tensor rois, {_POOLED}, {_SIZES}, int sampling_ratio, bool aligned)"
    " -> Tensor": roi_align_backward,
    f"ps_roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio)"
    " -> (Tensor, Tensor)": ps_roi_align,
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, "
    f"int sampling_ratio, {_SIZES}) -> Tensor": ps_roi_align_backward,
    f"roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": roi_pool,
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_POOLED}, {_SIZES})"
    " -> Tensor": roi_pool_backward,
    f"ps_roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)": ps_roi_pool,
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, {_SIZES})"
    " -> Tensor": ps_roi_pool_backward,
    f"deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {_CONV})"
    " -> Tensor": deform_conv2d,
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, "
    f"Tensor bias, {_CONV}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": deform_conv2d_backward,
    "_cuda_version() -> int": lambda: -1,
    # Quantized ones have no kernels: torchvision gives them shapes when it is imported.
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": None,
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
    f"int rois_zero_point, {_POOLED}, int sampling_ratio, bool aligned) -> Tensor": None,
}

LIBRARY: Final = Library("torchvision", "DEF")

for _schema, _kernel in _OPS.items():
    LIBRARY.define(_schema)
    if _kernel is not None:
        LIBRARY.impl(_schema.partition("(")[0], _kernel, "CompositeExplicitAutograd")
