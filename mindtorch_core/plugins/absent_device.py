"""What ``torch.cuda`` and the like show where no installed backend provides such devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from ..random import checked_seed
from ..streams import StreamContext
from ..tensors.tensor import Tensor

__all__ = ["AbsentDevice"]

# What PyTorch answers where it was built without such devices: a failed assertion.
_RAISING: Final = frozenset(
    [
        "can_device_access_peer",
        "cudart",
        "current_blas_handle",
        "current_device",
        "current_stream",
        "default_stream",
        "get_device_capability",
        "get_device_name",
        "get_device_properties",
        "get_rng_state",
        "get_sync_debug_mode",
        "init",
        "initial_seed",
        "ipc_collect",
        "mem_get_info",
        "memory_snapshot",
        "memory_summary",
        "reset_accumulated_memory_stats",
        "reset_max_memory_allocated",
        "reset_max_memory_cached",
        "reset_peak_memory_stats",
        "set_device",
        "set_rng_state",
        "set_per_process_memory_fraction",
        "set_sync_debug_mode",
        "synchronize",
        "utilization",
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
    ["is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported"]
)
_DTYPES: Final = (
    *("BFloat16", "Bool", "Byte", "Char", "Double"),
    *("Float", "Half", "Int", "Long", "Short"),
)
# Classes that programs name in annotations and checks: there are no objects of them.
_CLASSES: Final = frozenset(
    [
        *(f"{kind}Tensor" for kind in _DTYPES),
        "CUDAGraph",
        "CUDAPluggableAllocator",
        "Event",
        "ExternalStream",
        "MemPool",
        "Stream",
        "StreamContext",
        "device",
        "device_of",
        "graph",
    ]
)


class AbsentDevice:
    """Device functions that programs call before they choose a device: there is none of this type.

    What needs a device raises AssertionError as PyTorch does where it was built without; a name that
    no device has raises AttributeError. Both say that the backend is missing.
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

    def _missing(self) -> NoReturn:
        raise AssertionError(
            f"mindtorch has no {self._type.upper()} here: no installed backend provides the device "
            f"'{self._type}'. Use another device, or see `mindtorch backends`."
        )

    def _class(self, name: str) -> Any:
        """A class that has no objects."""
        missing = self._missing

        def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
            missing()

        known = self._classes.get(name)
        if known is not None:
            return known
        made = type(name, (), {"__new__": __new__, "__module__": f"torch.{self._type}"})
        return self._classes.setdefault(name, made)

    def __getattr__(self, name: str) -> Any:
        answer: Callable[..., Any]
        if name in _RAISING:

            def answer(*args: Any, **kwargs: Any) -> NoReturn:
                self._missing()
        elif name in _ZERO:

            def answer(device: Any = None) -> int:
                return 0
        elif name in _FALSE:

            def answer(*args: Any, **kwargs: Any) -> bool:
                return False
        elif name in _CLASSES:
            return self._class(name)
        else:
            raise AttributeError(
                f"torch.{self._type} has no attribute {name!r}, because no installed backend provides "
                f"the device '{self._type}'"
            )
        answer.__name__ = answer.__qualname__ = name
        self.__dict__[name] = answer
        return answer

    def __repr__(self) -> str:
        return f"<device functions of {self._type}, which no installed backend provides>"
