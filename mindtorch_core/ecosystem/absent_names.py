"""What exists for the sake of imports: a row per module, by its path below ``torch``.

Families stand in files of their own. A module that has a file in this room takes its row's names too.
"""

from __future__ import annotations

from typing import Final

from ..frontend.storages import UntypedStorage
from ..library.fake import get_ctx
from .absent_compilers import COMPILERS
from .absent_distributed import DISTRIBUTED
from .absent_inner import INNER
from .absent_row import Absent
from .mapped_containers import add_batch_dim, remove_batch_dim

__all__ = ["ROWS"]

_EAGER: Final = "mindtorch has no quantized kernels"
_INNER: Final = "it belongs to PyTorch's compiled part"
_NESTED: Final = "mindtorch has no nested tensors: pad them, and say by a mask what is padding"


ROWS: Final[dict[str, Absent]] = {
    **COMPILERS,
    **DISTRIBUTED,
    **INNER,
    "_C._distributed_c10d": Absent(_INNER, classes="FakeProcessGroup"),
    "_C": Absent(
        _INNER,
        classes="AnyType Graph Value Node ScriptModule ScriptFunction ScriptMethod ScriptObject "
        "DeviceObjType Type ListType OptionalType TensorType PyTorchFileReader PyTorchFileWriter",
        values={"StorageBase": UntypedStorage},
    ),
    "_C._functorch": Absent(
        _INNER,
        functions="_vmap_decrement_nesting _vmap_increment_nesting",
        # vmap marks no tensors here that could be seen outside of the function.
        values={
            "_add_batch_dim": add_batch_dim,
            "_remove_batch_dim": remove_batch_dim,
            "get_unwrapped": lambda tensor: tensor,
            **dict.fromkeys(
                (
                    "is_batchedtensor",
                    "is_functorch_wrapped_tensor",
                    "is_gradtrackingtensor",
                    "is_legacy_batchedtensor",
                ),
                lambda tensor: False,
            ),
        },
    ),
    "_custom_ops": Absent(
        "use torch.library",
        functions="custom_op impl impl_abstract",
        values={"get_ctx": get_ctx},
    ),
    "_higher_order_ops": Absent(
        "control flow is Python's own here",
        functions="scan map flex_attention",
    ),
    "_prims_common": Absent(_INNER, functions="alert_not_deterministic is_contiguous_or_false"),
    "_subclasses": Absent(
        "use tensors on the device 'meta' for shapes without data",
        classes="FakeTensor FakeTensorMode",
        errors="UnsupportedFakeTensorException",
    ),
    "_subclasses.fake_tensor": Absent(
        "use tensors on the device 'meta' for shapes without data",
        classes="FakeTensor FakeTensorMode",
        functions="unset_fake_temporarily",
        errors="UnsupportedFakeTensorException",
        values={"is_fake": lambda value: False},
    ),
    "_utils_internal": Absent(_INNER, functions="justknobs_check"),
    "ao": Absent(),
    "ao.nn": Absent(),
    **{
        f"{path}{part}": Absent(
            _EAGER,
            classes="DeQuantStub QuantStub QuantWrapper QConfig QConfigMapping FakeQuantize "
            "FakeQuantizeBase PerChannelMinMaxObserver PlaceholderObserver "
            "HistogramObserver MinMaxObserver MovingAverageMinMaxObserver ObserverBase",
            functions="convert convert_fx default_observer default_per_channel_weight_observer "
            "default_weight_observer disable_observer fuse_modules fuse_modules_qat "
            "get_default_qat_qconfig get_default_qconfig prepare prepare_fx prepare_qat prepare_qat_fx "
            "quantize quantize_dynamic",
        )
        for path in ("ao.quantization", "quantization")
        for part in ("", ".quantize_fx")
    },
    "ao.quantization.fx": Absent(_EAGER),
    "ao.quantization.fx._decomposed": Absent(_EAGER),
    "of_nn.intrinsic": Absent(_EAGER, classes="ConvReLU2d ConvBn2d ConvBnReLU2d LinearReLU"),
    "of_nn.intrinsic.qat": Absent(_EAGER, classes="ConvBn2d ConvBnReLU2d ConvReLU2d LinearReLU"),
    "of_nn.qat": Absent(_EAGER, classes="Conv2d Linear"),
    "of_nn.quantizable": Absent(_EAGER, classes="LSTM MultiheadAttention"),
    "of_nn.quantized": Absent(_EAGER, classes="Conv2d FloatFunctional Linear QFunctional"),
    "of_nn.quantized.dynamic": Absent(_EAGER, classes="Linear LSTM"),
    "of_nn.quantized.modules": Absent(_EAGER, classes="Linear"),
    "mps": Absent("there is no such device", functions="compile_shader"),
    "cuda.profiler": Absent("there is no CUDA here", functions="init profile start stop"),
    "cuda.nvtx": Absent(
        "there is no CUDA here", functions="mark range_end range_pop range_push range_start"
    ),
    "numa": Absent(),
    "numa.binding": Absent(
        "processes are not bound to memory",
        classes="NumaOptions",
        enums={"AffinityMode": "NODE SOCKET"},
    ),
    "monitor": Absent("use logging", classes="Event Stat", functions="log_event"),
    "nested": Absent(
        _NESTED, functions="as_nested_tensor nested_tensor nested_tensor_from_jagged narrow"
    ),
    "cuda.graphs": Absent("there is no CUDA here", classes="CUDAGraph", functions="graph"),
    "cuda.nccl": Absent(
        "there is no CUDA here", functions="all_gather all_reduce broadcast reduce"
    ),
    "cuda.tunable": Absent("there is no CUDA here", functions="enable tuning_enable"),
    "autograd_profiler": Absent("there is no CUDA here", classes="emit_itt emit_nvtx"),
    "package": Absent("use torch.save and torch.load", classes="PackageExporter PackageImporter"),
    "utilities.cpp_extension": Absent(
        "mindtorch has no C++ to compile against",
        functions="SyclExtension check_compiler_ok_for_platform get_compiler_abi_compatibility_and_version "
        "get_default_build_root library_paths verify_ninja_availability",
        values={"COMMON_HIP_FLAGS": [], "COMMON_NVCC_FLAGS": [], "CUDNN_HOME": None},
    ),
    "utilities.mkldnn": Absent("there is no oneDNN here", functions="to_mkldnn"),
    "utilities.mobile_optimizer": Absent(
        "there is no runtime for telephones", functions="optimize_for_mobile"
    ),
    "utilities.bundled_inputs": Absent(
        "there are no scripts that inputs could be bundled with",
        functions="augment_model_with_bundled_inputs",
    ),
    "utilities.throughput_benchmark": Absent(
        "use timeit, or torch.profiler", classes="ThroughputBenchmark"
    ),
}
