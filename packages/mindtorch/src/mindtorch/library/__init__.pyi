"""`mindtorch_core.library` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.library import (
    CustomOpDef as CustomOpDef,
    Library as Library,
    OpCheckError as OpCheckError,
    cpu_fallback as cpu_fallback,
    custom_op as custom_op,
    define as define,
    fallback_counts as fallback_counts,
    fallthrough_kernel as fallthrough_kernel,
    get_ctx as get_ctx,
    get_kernel as get_kernel,
    impl as impl,
    infer_schema as infer_schema,
    opcheck as opcheck,
    register_autocast as register_autocast,
    register_autograd as register_autograd,
    register_fake as register_fake,
    register_kernel as register_kernel,
    register_torch_dispatch as register_torch_dispatch,
    register_vmap as register_vmap,
)
