"""What is said of compiled kernels: to the doctor, of the disk, and of an op."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import float32
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

from ..arrays import NUMPY_OF, wrap
from . import compiler, store
from .codegen import ir_of
from .kernels import KERNELS, WrongKernel, made_from
from .loops import UFUNCS
from .operations import served
from .program import Graph, Node, Program, described
from .quick import FAST
from .tracing import Traced, Tracer, Untraceable

__all__ = ["condition", "kept", "shown", "traced"]


def condition() -> str:
    """Whether kernels are compiled, in a line; some with every operation are, and compared with NumPy."""
    if not KERNELS.enabled:
        return f"none: {KERNELS.reason}"
    try:
        for code in ("f4", "f8", "i8"):
            graph = _everything(code)
            made_from(Program(graph, ("dense",) * len(graph.arrays), 0))
    except WrongKernel as error:
        return f"none: one does not agree with NumPy: {error}"
    except Exception as error:  # noqa: BLE001 (LLVM may raise anything)
        return f"none: {type(error).__name__}: {error}"
    return f"by {compiler.versions()}" + (", exp and log by few operations" if FAST else "")


def _everything(code: str) -> Graph:
    """Every operation on two operands of a dtype."""
    nodes = []
    for name, ufunc in UFUNCS.items():
        if ufunc.__name__ == name and ufunc.signature is None:
            operands = tuple(range(ufunc.nin))
            results = [made for made in (code, "b1") if served(name, (*(code,) * ufunc.nin, made))]
            nodes += [Node(name, made, operands) for made in results]
    outputs = tuple((2 + n, 2 + n) for n in range(len(nodes)))
    return Graph((code, code), (), tuple(nodes), outputs)


def kept(clear: bool) -> str:
    """What is on disk, in a line; nothing after it was cleared."""
    if clear:
        store.clear()
    count, nbytes = store.usage()
    where = store.folder()
    return f"{count} compiled kernels, {nbytes / 1024:.0f} KiB" + (
        f", in {where}" if where is not None else ": none are kept"
    )


def traced(name: str) -> Graph:
    """What an op's kernel computes of float32 tensors, other arguments being as they are by default.

    Raises:
        Untraceable: if that is no program.
    """
    entry = registry.entry(name)
    kernel = entry.kernels.get(DispatchKey.CPU)
    if kernel is None or entry.schema is None:
        raise Untraceable("the backend has no kernel of it")
    tracer = Tracer()
    args: list[Any] = []
    for argument in entry.schema.arguments:
        if argument.has_default:
            break
        if argument.real_type.text == "Tensor":
            args.append(wrap(tracer.input(NUMPY_OF[float32]), float32))
        else:
            args.append(1)
    found = kernel(*args)
    data = getattr(found, "raw_data", None)
    results = [] if found is args[0] or type(data) is not Traced else [data]
    graph, _, _ = tracer.finish(results)
    if not graph.outputs:
        raise Untraceable("it gives no traced result")
    return graph


def shown(name: str) -> str:
    """The program of an op and LLVM's text for it, or why there is none."""
    try:
        graph = traced(name)
    except Untraceable as reason:
        return f"{name} is left to NumPy: {reason}"
    except Exception as error:  # noqa: BLE001 (a kernel refuses such operands)
        return f"{name} is left to NumPy: {type(error).__name__}: {error}"
    program = Program(graph, ("dense",) * len(graph.arrays), 0)
    head = f"{name} of float32, compiled kernels: "
    head += "used" if KERNELS.enabled else f"none: {KERNELS.reason}"
    return f"{head}\n\n{described(program)}\n\n{ir_of(program)}".rstrip()
