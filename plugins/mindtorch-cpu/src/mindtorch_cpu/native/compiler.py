"""From LLVM's text to code that can be called, by llvmlite where that is installed.

Nothing else here knows llvmlite: `ready` says whether there is a compiler, `compiled` makes the object
file of a module, `loaded` gives the address of its function.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import re
import threading
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from .streaming import PAST, streamed

__all__ = [
    "LOCK",
    "NAME",
    "Loaded",
    "compiled",
    "fingerprint",
    "has_half",
    "has_pairs",
    "loaded",
    "pairs_pay",
    "ready",
    "vector_bytes",
    "vector_registers",
    "versions",
]

# Held while LLVM works, and while what it has made is let go of. A fork waits for it: a child would find
# LLVM's own locks taken for good.
LOCK: Final = threading.RLock()
# Of the function in each object file.
NAME: Final = "kernel"
# The modules that decide what is compiled.
_WRITERS: Final = (
    "codegen", "operations", "schedule", "program", "compiler", "writing", "sliding", "planes",
    "direct", "rowcode", "walks", "code_of_walks", "draws", "attending", "quick", "summing",
    "columns", "pairwise", "extremes", "running", "ranks", "radix",
    "windows", "turning", "shuffling", "sampling", "padding", "pool", "pool_code",
    "summing_up", "streaming",
)  # fmt: skip
_LOWEST: Final = (0, 45)  # the first whose LLVM has pointers without types


class _Tools(NamedTuple):
    """LLVM and what it compiles for."""

    llvm: Any
    machine: Any
    cpu: str
    features: str
    version: str


@functools.cache
def _tools() -> _Tools | str:
    """The compiler, or why there is none."""
    try:
        llvm = importlib.import_module("llvmlite.binding")
        version = str(importlib.import_module("llvmlite").__version__)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llvmlite":
            return f"llvmlite cannot be loaded: {_in_a_line(error)}"
        return "llvmlite is not installed (pip install mindtorch-cpu[native])"
    except Exception as error:  # noqa: BLE001 (a damaged installation raises anything; NumPy serves)
        return f"llvmlite cannot be loaded: {_in_a_line(error)}"
    lowest = ".".join(map(str, _LOWEST))
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return f"llvmlite has the version {version!r}, which is none: {lowest} is needed"
    if tuple(map(int, found.groups())) < _LOWEST:
        return f"llvmlite {version} is too old: {lowest} is needed"
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_default_triple()
        machine = target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
    except Exception as error:  # noqa: BLE001 (see above)
        return f"LLVM does not know this machine: {_in_a_line(error)}"
    return _Tools(llvm, machine, cpu, features, version)


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def ready() -> str | None:
    """Why nothing can be compiled; None if it can."""
    with LOCK:
        found = _tools()
    return found if isinstance(found, str) else None


def _llvm() -> _Tools:
    found = _tools()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def has_half() -> bool:
    """Whether the processor converts to half precision: LLVM would call a function that is not there."""
    tools = _llvm()
    return "+f16c" in tools.features.split(",") or "+fullfp16" in tools.features.split(",")


@functools.cache
def has_pairs() -> bool:
    """Whether the processor multiplies pairs of bfloat16."""
    return "+avx512bf16" in _llvm().features.split(",")


@functools.cache
def pairs_pay() -> bool:
    """Whether it does so faster than float32: AMD's do, Intel's take twice as long."""
    return has_pairs() and _llvm().cpu.startswith("znver")


@functools.cache
def vector_bytes() -> int:
    """Bytes of the widest vectors that the processor computes with."""
    features = _llvm().features.split(",")
    return 64 if "+avx512f" in features else 32 if "+avx2" in features else 16


@functools.cache
def vector_registers() -> int:
    """How many of these vectors fit its registers."""
    tools = _llvm()
    with LOCK:
        triple = tools.llvm.get_process_triple()
    wide = "+avx512f" in tools.features.split(",")
    return 32 if wide or not triple.startswith(("x86", "i386", "i686")) else 16


def versions() -> str:
    """What compiles, for reports."""
    tools = _llvm()
    return f"llvmlite {tools.version} for {tools.cpu}"


@functools.cache
def fingerprint() -> str:
    """What a compiled object depends on besides its program."""
    tools = _llvm()
    digest = hashlib.sha256()
    for part in (tools.cpu, tools.features, tools.version, np.__version__):
        digest.update(part.encode() + b"\0")
    for name in _WRITERS:
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return digest.hexdigest()


def compiled(text: str) -> bytes:
    """The object file of a module.

    Raises:
        RuntimeError: if LLVM refuses it.
    """
    with LOCK:
        return _compiled(text)


def _compiled(text: str) -> bytes:
    tools = _llvm()
    module = tools.llvm.parse_assembly(text)
    module.verify()
    options = tools.llvm.create_pipeline_tuning_options(2)
    options.loop_vectorization = True
    options.loop_interleaving = False
    options.loop_unrolling = False
    options.slp_vectorization = False
    builder = tools.llvm.create_pass_builder(tools.machine, options)
    builder.getModulePassManager().run(module, builder)
    if PAST in text:
        module = tools.llvm.parse_assembly(streamed(str(module)))
        module.verify()
    return bytes(tools.machine.emit_object(module))


class Loaded(NamedTuple):
    """Code that can be called.

    Attributes:
        address: of the function `NAME`.
        owner: holds the memory.
    """

    address: int
    owner: Any


def loaded(code: bytes) -> Loaded:
    """Load an object file with a function `NAME`.

    Raises:
        RuntimeError: if it is none.
    """
    with LOCK:
        return _loaded(code)


def _loaded(code: bytes) -> Loaded:
    tools = _llvm()
    target = tools.llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=tools.cpu, features=tools.features, opt=2, jit=True)
    engine = tools.llvm.create_mcjit_compiler(tools.llvm.parse_assembly(""), machine)
    engine.add_object_file(tools.llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = int(engine.get_function_address(NAME))
    if not address:
        raise RuntimeError(f"the object file has no function {NAME}")
    return Loaded(address, engine)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )
