"""Registration: device name, dispatch key, device module, primitives, and taking it all back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import mindtorch_core as torch

from ...dispatch.keys import BACKEND_KEYS
from ...inspection import coverage
from ...plugins import backends
from ...runtime import Runtime
from ...values.devices import TABLE, row_of
from . import round_trip
from .base import ConformanceBase, from_level, without_data
from .checks import refuses, require

__all__ = ["RegistrationTests"]


class RegistrationTests(ConformanceBase):
    """What the core knows of the backend once it is loaded."""

    @without_data
    def test_registered(self) -> None:
        """The device has a row with a runtime, a key of its own, and a distribution."""
        row = row_of(self.device)
        require(isinstance(row.runtime, Runtime), "the runtime does not derive from Runtime")
        require(
            row.type == row.runtime.type == self.device,
            f"the runtime says it serves {row.runtime.type!r}, not {self.device!r}",
        )
        require(row.key in set(map(int, BACKEND_KEYS)), "its key is none of the backends' keys")
        sharing = [r.type for r in TABLE.rows() if r.key == row.key and r is not row]
        require(not sharing, f"{self.device} shares its dispatch key with {', '.join(sharing)}")
        require(row.runtime.key == row.keys, "its tensors do not carry the keys of its row")
        loaded = [s for s in backends() if s.device == self.device]
        require(
            len(loaded) == 1 and loaded[0].state == "loaded",
            f"{len(loaded)} loaded distributions say that they serve {self.device}",
        )

    @without_data
    def test_device_count(self) -> None:
        """There is a device; one more than there are is refused with an error that says so."""
        found, count = self.devices(), self.runtime().device_count()
        require(len(set(found)) == count, f"{count} devices are not told apart: {found}")
        if found[0].index is None:
            return  # a device without an index, such as the CPU
        beyond = f"{self.device}:{count}"
        call = f"torch.empty(2, device={beyond!r})"
        error = refuses(call, lambda: torch.empty(2, device=beyond), RuntimeError)
        require(beyond in str(error), f"the error for {beyond} does not name it: {error}")

    @without_data
    def test_device_module(self) -> None:
        """``torch.<device>`` tells how many devices there are and which is current."""
        module = getattr(torch, self.device, None)
        if module is None or not hasattr(module, "device_count"):
            pytest.skip(f"torch.{self.device} has no device functions")
        runtime = self.runtime()
        require(module.is_available() is True, "is_available() is not True, yet it is tested")
        require(module.device_count() == runtime.device_count(), "device_count() differs")
        require(0 <= module.current_device() < runtime.device_count(), "current_device() is none")
        module.synchronize()

    @without_data
    def test_primitives_are_served(self) -> None:
        """Every op that backends have to supply has a kernel; others are made of them."""
        missing = [each.op for each in coverage(self.device).primitives if each.served == "missing"]
        require(not missing, f"no kernel serves the primitives {', '.join(missing)}")

    @without_data
    def test_kernels_are_the_distributions(self) -> None:
        """Kernels at the device's key say which distribution registered them."""
        row = row_of(self.device)
        foreign = {
            each.op: each.kernel.distribution
            for each in coverage(self.device).ops
            if each.served == "kernel" and each.kernel is not None
            and each.kernel.distribution not in (row.distribution, "")
            and not each.kernel.distribution.startswith("mindtorch-core ")  # of collective operations
        }  # fmt: skip
        require(not foreign, f"kernels of {self.device} come from elsewhere: {foreign}")

    @without_data
    @from_level("core")
    def test_unloads_and_loads_again(self) -> None:
        """In a fresh process, unloading and a failed loading take back what loading changed."""
        (entry,) = [s.name for s in backends() if s.device == self.device]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(
            [sys.executable, "-c", round_trip.COMMAND, self.device, entry],
            capture_output=True, text=True, timeout=300, check=False, env=env,
        )  # fmt: skip
        if done.returncode == round_trip.NOT_INSTALLED:
            pytest.skip(f"{self.device} is not installed where a new process finds it")
        last = done.stderr.strip().splitlines()[-1:] or [""]
        require(done.returncode == 0, f"in a fresh process: {last[0]}")
