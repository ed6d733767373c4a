"""``torch.library``: define ops, register kernels, fakes and gradients, and check them."""

from ..dispatch.entry import fallthrough_kernel
from .custom_op import CustomOpDef, custom_op, register_kernel
from .fake import get_ctx, register_fake
from .gradients import register_autograd
from .infer import infer_schema
from .opcheck import OpCheckError, opcheck
from .policies import register_autocast, register_torch_dispatch
from .registration import Library, define, impl
from .registration import scoped_library as _scoped_library  # noqa: F401  (PyTorch's name of it)

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
]
