"""Names of ``torch`` that stand around tensors, found in the room `ecosystem` when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any, Final

from .aliases import alias, keep_function

__all__ = [
    "ELSEWHERE",
    "MODULES",
    "NAMES",
    "OF_AUTOGRAD",
    "OF_NN",
    "OF_UTILS",
    "PUBLIC",
    "has",
    "install",
    "surrounding",
]

_ROOM: Final = "mindtorch_core.ecosystem"

# Modules, by their path below ``torch``; an entry stands for the modules below it too.
MODULES: Final = frozenset(
    {
        "_C",
        "_custom_ops",
        "_dynamo",
        "_higher_order_ops",
        "_inductor",
        "_prims_common",
        "_subclasses",
        "_tensor",
        "_utils",
        "_utils_internal",
        "_vmap_internals",
        "__config__",
        "_appdirs",
        "_compile",
        "_decomp",
        "_functorch",
        "_guards",
        "_jit_internal",
        "_lazy",
        "_library",
        "_linalg_utils",
        "_logging",
        "_meta_registrations",
        "_prims",
        "_refs",
        "_weights_only_unpickler",
        "accelerator",
        "ao",
        "backends",
        "classes",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "export",
        "functional",
        "futures",
        "fx",
        "hub",
        "jit",
        "monitor",
        "mps",
        "mtia",
        "nested",
        "numa",
        "onnx",
        "package",
        "profiler",
        "quantization",
        "quasirandom",
        "return_types",
        "torch_version",
        "types",
        "version",
        "xpu",
    }
)
OF_UTILS: Final = frozenset(
    {
        "_contextlib",
        "_exposed_in",
        "_foreach_utils",
        "_mode_utils",
        "_ordered_set",
        "_triton",
        "backcompat",
        "debug_log",
        "deterministic",
        "module_tracker",
        "serialization",
        "viz",
        "weak",
        "_import_utils",
        "backend_registration",
        "benchmark",
        "bundled_inputs",
        "collect_env",
        "cpp_extension",
        "flop_counter",
        "mkldnn",
        "mobile_optimizer",
        "model_zoo",
        "tensorboard",
        "throughput_benchmark",
    }
)
OF_NN: Final = frozenset(
    {"_reduction", "common_types", "grad", "intrinsic", "qat", "quantizable", "quantized"}
)
OF_AUTOGRAD: Final = {  # and the module of the room that each stands for
    "profiler": "autograd_profiler",
    "profiler_util": "autograd_profiler",
    "variable": "autograd_variable",
}

# Modules of PyTorch's whose names a module of another path has here: its path, below ``mindtorch_core``.
ELSEWHERE: Final = {
    "_VF": "",
    "_lowrank": "",
    "_ops": ".opdefs.torch_ops",
    "_tensor_str": ".frontend.printing",
    "accelerator.memory": ".ecosystem.accelerator",
    "autograd.gradcheck": ".autograd.gradient_checks",
    "cpu.amp": ".ecosystem.cpu_amp",
    "distributed._composable.fsdp": ".ecosystem.distributed.fsdp",
    "distributed._composable.fsdp.fully_shard": ".ecosystem.distributed.fsdp",
    **{
        f"distributed._composable.{name}": ".ecosystem.distributed._composable"
        for name in ("checkpoint_activation", "contract", "replicate")
    },
    "distributed._tensor": ".ecosystem.distributed.tensor",
    "distributed._tensor.api": ".ecosystem.distributed.tensor",
    **{
        f"distributed.checkpoint.{name}": ".ecosystem.distributed.checkpoint"
        for name in ("api", "filesystem")
    },
    **{
        f"distributed.fsdp.{name}": ".ecosystem.distributed.fsdp"
        for name in ("_fully_shard", "api", "fully_sharded_data_parallel")
    },
    **{
        f"distributed.optim.{name}": ".ecosystem.distributed.optim"
        for name in ("post_localSGD_optimizer", "zero_redundancy_optimizer")
    },
    "distributed.tensor._api": ".ecosystem.distributed.tensor",
    **{
        f"distributed.tensor.parallel.{name}": ".ecosystem.distributed.tensor.parallel"
        for name in ("api", "loss", "style")
    },
    **{
        f"nn.parallel.{name}": f".ecosystem.of_nn.parallel.{name}"
        for name in ("_functions", "comm", "parallel_apply", "replicate", "scatter_gather")
    },
    **{
        f"nn.utils.{name}": f".ecosystem.of_nn.utils.{name}"
        for name in ("_named_member_accessor", "_per_sample_grad")
    },
    **{
        f"sparse.{name}": f".ecosystem.of_sparse.{name}"
        for name in ("_triton_ops", "_triton_ops_meta")
    },
    "testing._comparison": ".testing",
    "testing._creation": ".testing",
    "utils._device": ".values.devices",
    "xpu.memory": ".xpu",
    "xpu.random": ".xpu",
    "xpu.streams": ".xpu",
}

# Names of ``torch`` itself, and the module of the room that has them.
NAMES: Final = {
    **dict.fromkeys(
        (
            "are_deterministic_algorithms_enabled",
            "get_deterministic_debug_mode",
            "is_deterministic_algorithms_warn_only_enabled",
            "set_deterministic_debug_mode",
            "use_deterministic_algorithms",
        ),
        "determinism",
    ),
    **dict.fromkeys(
        (
            "get_autocast_cpu_dtype",
            "get_autocast_gpu_dtype",
            "is_autocast_cpu_enabled",
            "set_autocast_cpu_dtype",
            "set_autocast_cpu_enabled",
            "set_autocast_gpu_dtype",
        ),
        "autocast_of_old",
    ),
    **dict.fromkeys(
        (
            "_assert",
            "_assert_async",
            "_check",
            "_check_index",
            "_check_is_size",
            "_check_not_implemented",
            "_check_tensor_all",
            "_check_tensor_all_with",
            "_check_type",
            "_check_value",
            "_check_with",
        ),
        "assertions",
    ),
    **dict.fromkeys(
        (
            "AcceleratorError",
            "compiled_with_cxx11_abi",
            "get_num_interop_threads",
            "has_lapack",
            "has_mkl",
            "has_openmp",
            "is_vulkan_available",
            "is_warn_always_enabled",
            "set_anomaly_enabled",
            "set_default_tensor_type",
            "set_flush_denormal",
            "set_num_interop_threads",
            "set_warn_always",
        ),
        "process_settings",
    ),
    **dict.fromkeys(
        (
            "sym_constrain_range",
            "sym_constrain_range_for_size",
            "sym_float",
            "sym_int",
            "sym_ite",
            "sym_max",
            "sym_min",
            "sym_not",
            "sym_sqrt",
            "sym_sum",
        ),
        "symbolic_numbers",
    ),
    "Future": "futures",
    **dict.fromkeys(
        (
            "AnyType",
            "Graph",
            "ListType",
            "Node",
            "OptionalType",
            "DeviceObjType",
            "ScriptObject",
            "StorageBase",
            "TensorType",
            "Value",
        ),
        "_C",
    ),
    "_shape_as_tensor": "assertions",
    "cond": "_higher_order_ops",
    "while_loop": "_higher_order_ops",
    "compile": "compiler",
    "get_float32_matmul_precision": "matmul_precision",
    "set_float32_matmul_precision": "matmul_precision",
    "PyTorchFileReader": "_C",
    "PyTorchFileWriter": "_C",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
}

# Modules whose packages have functions of the same names.
_FUNCTIONS: Final = (
    "distributed._composable.contract",
    "distributed._composable.fsdp.fully_shard",
    "distributed._composable.replicate",
    "nn.parallel.data_parallel",
    "nn.parallel.parallel_apply",
    "nn.parallel.replicate",
)

_TOP: Final = frozenset(path for path in ELSEWHERE if "." not in path)

PUBLIC: Final = frozenset(name for name in (*MODULES, *NAMES) if name[0] != "_")


def has(name: str) -> bool:
    """Whether `surrounding` knows a name."""
    return name in MODULES or name in NAMES or name in _TOP


def surrounding(name: str) -> Any:
    """A name of ``torch``, as `MODULES`, `NAMES` and `ELSEWHERE` have it.

    Raises:
        AttributeError: if there is none.
    """
    if name in MODULES:
        return importlib.import_module(f"{_ROOM}.{name}")
    if name in NAMES:
        return getattr(importlib.import_module(f"{_ROOM}.{NAMES[name]}"), name)
    if name in _TOP:
        return importlib.import_module(f"mindtorch_core.{name}")
    raise AttributeError(name)


def install() -> None:
    """Have the import system find the modules under PyTorch's paths."""
    for name in MODULES:
        alias(f"mindtorch_core.{name}", f"{_ROOM}.{name}")
    for name in OF_UTILS:
        alias(f"mindtorch_core.utils.{name}", f"{_ROOM}.utilities.{name}")
    for name in OF_NN:
        alias(f"mindtorch_core.nn.{name}", f"{_ROOM}.of_nn.{name}")
    for path, source in ELSEWHERE.items():
        alias(f"mindtorch_core.{path}", f"mindtorch_core{source}")
    for path in _FUNCTIONS:
        keep_function(f"mindtorch_core.{path}")
    for name, module in OF_AUTOGRAD.items():
        alias(f"mindtorch_core.autograd.{name}", f"{_ROOM}.{module}")
