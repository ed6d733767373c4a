"""What the entry point names."""

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback
from mindtorch_core.plugins import Backend, hookimpl

from .kernels import KERNELS
from .runtime import RUNTIME


@hookimpl
def mindtorch_backend():
    return Backend(device="bare", runtime=RUNTIME, api=2)


@hookimpl
def mindtorch_register(key):
    for name, kernel in KERNELS.items():
        registry.register_kernel(name, key, kernel)
    registry.register_fallback(key, on_host)


def on_host(name, *args, **kwargs):
    """Leave an op to the CPU, if it is one of those that may be."""
    definition = registry.entry(name).definition
    if definition is None or not definition.traits.host:
        raise AssertionError(f"{name} is not an op that is left to the host, and has no kernel")
    return cpu_fallback(name, *args, **kwargs)
