"""What is said of compiled kernels: to the doctor, of the disk, and of an op."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import bool_, float32
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
from .rowcode import ir_of_rows
from .tracing import Traced, Tracer, Untraceable

__all__ = ["condition", "kept", "shown", "traced"]


# Elements of a row that is shown: how many there are is known to the kernels of some ops.
_WIDTH: Final = 768


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
            d = bool_ if argument.name in ("condition", "mask") else float32
            args.append(wrap(tracer.input(NUMPY_OF[d]), d))
        else:
            args.append(1)
    found = kernel(*args)
    data = getattr(found, "raw_data", None)
    results = [] if found is args[0] or type(data) is not Traced else [data]
    graph, _, _ = tracer.finish(results)
    if not graph.outputs:
        raise Untraceable("it gives no traced result")
    return graph


def _traced_rows(name: str) -> Graph | None:
    """What an op computes of rows of float32; None for one that is no program of rows."""
    from ..ops.normalization import layer_norm_of
    from ..ops.softmax import OF_ROWS

    tracer = Tracer()
    short = name.removeprefix("aten::").partition(".")[0]
    if short in OF_ROWS:
        trace, count = OF_ROWS[short]
    elif short in ("layer_norm", "native_layer_norm"):
        trace, count = layer_norm_of(_WIDTH, 1e-5), 1
    else:
        return None
    graph, _, _ = tracer.finish(trace(tracer, *(tracer.input(np.float32) for _ in range(count))))
    return graph


def _program_of(graph: Graph, rows: bool) -> Program:
    """The program for operands that lie one after the other; rows are reduced to one number each."""
    plain = Program(graph, ("dense",) * len(graph.arrays), int(rows), rows)
    constant = plain.constant_in_rows()
    single = {at for v, at in graph.outputs if v in constant}
    layouts = tuple("single" if i in single else "dense" for i in range(len(graph.arrays)))
    return plain._replace(layouts=layouts)


def shown(name: str) -> str:
    """The program of an op and LLVM's text for it, or why there is none."""
    head = f"{name} of float32, compiled kernels: "
    head += "used" if KERNELS.enabled else f"none: {KERNELS.reason}"
    try:
        graph = _traced_rows(name)
        rows = graph is not None
        if graph is None:
            graph = traced(name)
    except Untraceable as reason:
        return f"{name} is left to NumPy: {reason}"
    except Exception as error:  # noqa: BLE001 (a kernel refuses such operands)
        what = f"{type(error).__name__}: {error}"
        return f"{name} is left to NumPy, as far as that is known without a call: {what}"
    program = _program_of(graph, rows)
    text = ir_of_rows(program) if rows else ir_of(program)
    return f"{head}\n\n{described(program)}\n\n{text}".rstrip()
