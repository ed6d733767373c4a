"""``torch.library``: define ops, register kernels, fakes and gradients, and check them."""

from ..dispatch.entry import fallthrough_kernel
from .by_name import define, get_kernel, impl
from .checks import OpCheckError, opcheck
from .cpu_fallback import cpu_fallback, fallback_counts
from .custom_ops import CustomOpDef, custom_op, register_kernel
from .fake import get_ctx, register_fake
from .gradients import register_autograd
from .infer import infer_schema
from .op_rules import register_autocast, register_torch_dispatch, register_vmap
from .registration import Library
from .registration import scoped_library as _scoped_library  # noqa: F401  (PyTorch's name of it)
from .triton_ops import impl_abstract, triton_op, wrap_triton

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "cpu_fallback",
    "custom_op",
    "define",
    "fallback_counts",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]
