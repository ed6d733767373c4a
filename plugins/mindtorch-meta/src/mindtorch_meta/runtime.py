"""The meta device's side of the device protocol: there is no memory."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from mindtorch_core.backend import Runtime, Shape, Storage, Tensor, device, dtype, make_tensor

__all__ = ["META", "RUNTIME", "MetaRuntime"]

META: Final = device("meta")


def no_data(op: str = "") -> NoReturn:
    """Refuse to read what is not there.

    Args:
        op: the op whose result depends on elements; empty for a copy to another device.

    Raises:
        NotImplementedError: always.
    """
    if op:
        raise NotImplementedError(
            f"aten::{op}: the result depends on the elements of its arguments, and meta tensors have "
            f"none. Call it on tensors of a device with memory."
        )
    raise NotImplementedError(
        "Cannot copy out of meta tensor; no data! Use torch.empty_like(tensor, device=...) to make a "
        "tensor of its shape on a device with memory."
    )


class MetaRuntime(Runtime):
    """No memory, one device."""

    executes = False

    def device_count(self) -> int:
        """One."""
        return 1

    def concrete_device(self, wanted: device) -> device:
        """Meta has no index."""
        return META

    def allocate(self, nbytes: int, on: device) -> Any:
        """Nothing."""
        return None

    def copy_from_host(self, memory: Any, start: int, data: memoryview) -> None:
        """Drop the data."""

    def copy_to_host(self, memory: Any, start: int, nbytes: int) -> memoryview:
        """Refuse: there is no data."""
        no_data()

    def to_host(self, tensor: Tensor) -> memoryview:
        """Refuse: there is no data."""
        no_data()

    def storage_of(self, tensor: Tensor) -> Storage:
        """A storage without memory."""
        return Storage(None, tensor.nbytes, META)

    def empty(self, shape: Shape, strides: Shape | None, d: dtype, on: device) -> Tensor:
        """A tensor without data."""
        return make_tensor(
            None, shape, d, META, self.key, None, None if strides is None else (strides, 0)
        )

    def generator(self, on: device) -> Any:
        """Random numbers nobody sees need no source."""
        return _NoSource()


class _NoSource:
    """A generator that draws nothing."""

    def manual_seed(self, seed: int) -> None:
        """Accept a seed."""
        self.start = seed

    def initial_seed(self) -> int:
        """The seed."""
        return self.start

    def get_state(self) -> bytes:
        """The seed's bytes."""
        return self.start.to_bytes(8, "little")

    def set_state(self, raw: bytes) -> None:
        """Take the seed from bytes.

        Raises:
            RuntimeError: if they are none of `get_state`.
        """
        if len(raw) != 8:
            raise RuntimeError(f"a Meta generator's state has 8 bytes, got {len(raw)}")
        self.start = int.from_bytes(raw, "little")


RUNTIME: Final = MetaRuntime()
