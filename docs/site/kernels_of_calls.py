"""What the dispatcher says about calls, as data for the page that draws it.

Each call is an op, a device and a set of circumstances; `mindtorch_core.inspection.explain` says which
kernels it runs. Rows that several calls share are written once.
"""

from __future__ import annotations

import itertools
import re
from contextlib import ExitStack
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.inspection import Explanation, explain

# One of each kind: what it is, said in the page's words.
OPS: Final = {
    "add": "a primitive: every backend has a kernel",
    "mul": "a primitive with a derivative that needs both factors",
    "add_": "writes its first argument",
    "mm": "a product of matrices, which autocast computes in 16 bits",
    "linear": "made of other ops, with a kernel of its own on the CPU",
    "relu": "element-wise",
    "gelu": "element-wise, and made of others where a backend has no kernel",
    "softmax": "a composition, with a derivative of its own",
    "sum": "a reduction, which autocast computes in 32 bits",
    "transpose": "a view: the result shares memory",
    "layer_norm": "a composition that backends like to fuse",
    "conv2d": "a composition around convolution",
    "cross_entropy_loss": "made of log_softmax and nll_loss",
    "dropout": "draws random numbers",
    "sort": "returns two tensors",
    "nonzero": "its result's shape depends on the data",
}
# How the page calls a device, and what `explain` calls it.
DEVICES: Final = {
    "cpu": "cpu",
    "meta": "meta",
    "npu": "npu",
    "a new backend, without kernels": DispatchKey.PrivateUse1,
}
# Their order is that of the bits in a call's number.
CIRCUMSTANCES: Final = {
    "requires_grad": "a tensor requires grad",
    "no_grad": "inside torch.no_grad()",
    "inference": "inside torch.inference_mode()",
    "pipeline": "inside torch.pipeline()",
    "autocast": "inside torch.autocast(device)",
    "modes": "inside a dispatch mode",
}


def data() -> dict[str, Any]:
    """All calls, by op, device and the number of their circumstances."""
    rows: dict[tuple[Any, ...], int] = {}
    calls: dict[str, dict[str, list[Any]]] = {}
    schemas = {}
    for op in OPS:
        schemas[op] = explain(op).schema
        calls[op] = {name: _calls(op, device, rows) for name, device in _devices()}
    return {
        "ops": {op: {"what": what, "schema": schemas[op]} for op, what in OPS.items()},
        "devices": [name for name, _ in _devices()],
        "circumstances": CIRCUMSTANCES,
        "rows": [dict(row) for row in rows],
        "calls": calls,
    }


def _devices() -> list[tuple[str, str | DispatchKey]]:
    """Devices that the dispatcher knows where the site is built."""
    return [(name, d) for name, d in DEVICES.items() if not isinstance(d, str) or _installed(d)]


def _installed(device: str) -> bool:
    """Whether a backend for a device is installed; its library need not be."""
    try:
        explain("add", device=device)
    except RuntimeError:
        return False
    return True


def _calls(op: str, device: str | DispatchKey, rows: dict[tuple[Any, ...], int]) -> list[Any]:
    """What calls of an op on a device run: numbers of rows, or why there is no such call."""
    made: list[Any] = []
    for bits in itertools.product((False, True), repeat=len(CIRCUMSTANCES)):
        chosen = dict(zip(reversed(CIRCUMSTANCES), bits, strict=True))
        try:
            found = _explained(op, device, chosen)
        except RuntimeError as error:
            made.append(str(error))
            continue
        numbers = [rows.setdefault(_row(row), len(rows)) for row in found.rows]
        made.append({"rows": numbers, "error": found.error} if found.error else numbers)
    return made


def _explained(op: str, device: str | DispatchKey, chosen: dict[str, bool]) -> Explanation:
    """An explanation under circumstances that `explain` has no option for, too."""
    options = dict(chosen)
    with ExitStack() as stack:
        if options.pop("no_grad"):
            stack.enter_context(torch.no_grad())
        return explain(op, device=device, **options)


def _row(row: Any) -> tuple[Any, ...]:
    """A row as pairs: what the page shows, with a path that does not name this machine."""
    kernel = row.kernel
    source = "" if kernel is None else re.sub(r"^.*?(?=mindtorch_\w+/)", "", kernel.source)
    return (
        ("key", row.key_name),
        ("outcome", row.outcome),
        ("why", row.why),
        ("kernel", "" if kernel is None else kernel.name),
        ("source", source),
        ("by", "" if kernel is None else kernel.distribution.partition(" ")[0]),
        ("notes", "; ".join(row.notes)),
    )
