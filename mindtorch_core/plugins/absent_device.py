"""What ``torch.cuda`` and the like show where no installed backend provides such devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from ..dispatch.nearest import missing
from ..random import checked_seed
from ..streams import StreamContext
from ..tensors.tensor import Tensor
from ..values.devices import type_meant
from ..values.errors import NoAcceleratorError, OutOfMemoryError

__all__ = ["AbsentDevice"]

# What PyTorch answers where it was built without such devices: a failed assertion.
_RAISING: Final = frozenset(
    [
        "can_device_access_peer",
        "cudart",
        "current_blas_handle",
        "caching_allocator_alloc",
        "caching_allocator_delete",
        "change_current_allocator",
        "check_error",
        "clock_rate",
        "current_device",
        "current_solver_handle",
        "current_stream",
        "default_stream",
        "device_memory_used",
        "get_allocator_backend",
        "get_device_capability",
        "get_device_name",
        "get_device_properties",
        "get_per_process_memory_fraction",
        "get_rng_state",
        "get_stream_from_external",
        "get_sync_debug_mode",
        "graph_pool_handle",
        "init",
        "initial_seed",
        "ipc_collect",
        "list_gpu_processes",
        "make_graphed_callables",
        "mem_get_info",
        "memory_snapshot",
        "memory_summary",
        "memory_usage",
        "power_draw",
        "reset_accumulated_host_memory_stats",
        "reset_accumulated_memory_stats",
        "reset_max_memory_allocated",
        "reset_max_memory_cached",
        "reset_peak_host_memory_stats",
        "reset_peak_memory_stats",
        "set_device",
        "set_rng_state",
        "set_per_process_memory_fraction",
        "set_sync_debug_mode",
        "synchronize",
        "temperature",
        "use_mem_pool",
        "utilization",
        "_lazy_init",
        "_sleep",
        "current_allocated_memory",
        "driver_allocated_memory",
        "recommended_max_memory",
    ]
)
_ZERO: Final = frozenset(
    [
        "max_memory_allocated",
        "max_memory_cached",
        "max_memory_reserved",
        "memory_allocated",
        "memory_cached",
        "memory_reserved",
    ]
)
_FALSE: Final = frozenset(
    [
        "is_bf16_supported",
        "is_current_stream_capturing",
        "is_initialized",
        "is_tf32_supported",
        "_is_compiled",
        "_is_in_bad_fork",
    ]
)
_VALUES: Final = {"has_half": True, "has_magma": False, "_initialized": False}
_DTYPES: Final = (
    *("BFloat16", "Bool", "Byte", "Char", "Double"),
    *("Float", "Half", "Int", "Long", "Short"),
)
# Classes that programs name in annotations and checks: there are no objects of them.
_CLASSES: Final = frozenset(
    [
        *(f"{kind}Tensor" for kind in _DTYPES),
        *(f"{kind}Storage" for kind in (*_DTYPES, "ComplexDouble", "ComplexFloat")),
        "CUDAGraph",
        "CUDAPluggableAllocator",
        "Event",
        "ExternalStream",
        "GreenContext",
        "MemPool",
        "Stream",
        "StreamContext",
        "device",
        "device_of",
        "graph",
        "_CudaDeviceProperties",
        "_DeviceGuard",
    ]
)


class AbsentDevice:
    """Device functions that programs call before they choose a device: there is none of this type.

    What needs a device raises AssertionError as PyTorch does where it was built without; a name that
    no device has raises AttributeError. Both say that the backend is missing. Where devices of another
    type stand for these, see `mindtorch run --as-cuda`, it is what their backend lacks.
    """

    def __init__(self, type: str) -> None:
        self._type = type
        self._classes: dict[str, Any] = {}

    def is_available(self) -> bool:
        """False: there is no device of this type."""
        return False

    def device_count(self) -> int:
        """0, the number of devices of this type."""
        return 0

    def manual_seed(self, seed: int) -> None:
        """Check the seed: there is no generator that takes it."""
        checked_seed(seed)

    manual_seed_all = manual_seed

    def seed(self) -> None:
        """Do nothing: there is no generator to seed."""

    seed_all = seed

    def empty_cache(self) -> None:
        """Do nothing: there is no memory to return."""

    def get_rng_state_all(self) -> list[Tensor]:
        """The positions of no generators."""
        return []

    def set_rng_state_all(self, new_states: Iterable[Tensor]) -> None:
        """Go back to the positions of no generators.

        Raises:
            AssertionError: if there is a position.
        """
        if list(new_states):
            self._missing()

    def get_arch_list(self) -> list[str]:
        """Architectures that kernels were compiled for: none."""
        return []

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """Counters of the devices' allocator: none."""
        return {}

    memory_stats_as_nested_dict = memory_stats

    def host_memory_stats(self) -> dict[str, int]:
        """Counters of the host's memory for the devices: none."""
        return {}

    host_memory_stats_as_nested_dict = host_memory_stats

    def get_gencode_flags(self) -> str:
        """How a compiler is told the architectures: none."""
        return ""

    def caching_allocator_enable(self, value: bool = True) -> None:
        """Do nothing: there is no allocator."""

    def stream(self, stream: Any) -> StreamContext:
        """Make a stream current while the block lasts; None, the only one there is, changes nothing."""
        return StreamContext(stream)

    def set_stream(self, stream: Any) -> None:
        """Do nothing for None, the only stream there is."""
        if stream is not None:
            self._missing()

    @property
    def default_generators(self) -> tuple[()]:
        """The devices' generators: none."""
        return ()

    @property
    def OutOfMemoryError(self) -> type[OutOfMemoryError]:
        """The error of devices that are full: ``torch.OutOfMemoryError``."""
        return OutOfMemoryError

    def _missing(self, name: str = "") -> NoReturn:
        """Refuse what needs a device, or a function of the backend whose devices stand for these.

        Args:
            name: of what was called.
        """
        meant = type_meant(self._type)
        if meant != self._type:
            what = "graphs" if "graph" in name.lower() else name or "streams"
            raise NotImplementedError(
                f"torch.{self._type}.{name or 'Stream'}: the backend of '{meant}', whose devices stand "
                f"for '{self._type}' here, has no {what}"
            )
        raise NoAcceleratorError(
            f"mindtorch has no {self._type.upper()} here: no installed backend provides the device "
            f"'{self._type}'. Use another device, or see `mindtorch backends`.",
            device=self._type,
        )

    def _class(self, name: str) -> Any:
        """A class that has no objects."""
        refuse = self._missing

        def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
            refuse(name)

        known = self._classes.get(name)
        if known is not None:
            return known
        made = type(name, (), {"__new__": __new__, "__module__": f"torch.{self._type}"})
        return self._classes.setdefault(name, made)

    def __getattr__(self, name: str) -> Any:
        answer: Callable[..., Any]
        if name in _RAISING:

            def answer(*args: Any, **kwargs: Any) -> NoReturn:
                self._missing(name)
        elif name in _ZERO:

            def answer(device: Any = None) -> int:
                return 0
        elif name in _FALSE:

            def answer(*args: Any, **kwargs: Any) -> bool:
                return False
        elif name in _CLASSES:
            return self._class(name)
        elif name in _VALUES:
            return _VALUES[name]
        else:
            raise self._unknown(name)
        answer.__name__ = answer.__qualname__ = name
        self.__dict__[name] = answer
        return answer

    def _unknown(self, name: str) -> AttributeError:
        """The error for a name that no device has."""
        known = {*_RAISING, *_ZERO, *_FALSE, *_CLASSES, *_VALUES, *dir(self)}
        error = missing(f"torch.{self._type}", name, lambda: [n for n in known if n[0] != "_"])
        meant = type_meant(self._type)
        why = (
            f"No installed backend provides the device '{self._type}'."
            if meant == self._type
            else f"Devices of the type '{meant}' stand for '{self._type}' here."
        )
        return AttributeError(f"{error} {why}", name=name)

    def __repr__(self) -> str:
        return f"<device functions of {self._type}, which no installed backend provides>"
