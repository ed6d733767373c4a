"""``docs/npu_ops.md``: how each op is computed on NPUs, for which dtypes.

    export ASCEND_TOOLKIT_HOME=$(python -m mindtorch_npu_simulator)
    python docs/make.py npu

Every op is called with its sample arguments in all dtypes that the CPU takes, and what is launched or
left to the CPU is noted.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from dataclasses import replace
from typing import Any, Final
from unittest import mock

import mindtorch_core as torch
from mindtorch_core.dispatch.opdef import OpDef
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.opdefs.packets import front
from mindtorch_core.testing import Sample, TensorRecipe
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.samples import samples

INTRODUCTION: Final = """\
# Ops on NPUs

Written by `docs/make.py`, which calls every op with sample arguments on the simulated
toolkit. Do not edit.

- **Operators**: what is launched for one of the samples; "of other ops" where the core's composition is
  used.
- **On the CPU for**: dtypes of the first tensor for which at least a part is left to the CPU, because no
  operator of CANN takes them (`MINDTORCH_NPU_FALLBACK`).

A card with another chip or release may refuse more; see [Ascend NPUs](npu.md).

{counts}
"""
DTYPES: Final = (
    "float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
    "complex64", "complex128",
)  # fmt: skip


class Notes:
    """What one op did.

    Attributes:
        operators: names of operators that were launched.
        on_cpu: dtypes for which an op was left to the CPU.
        served: dtypes that worked.
    """

    def __init__(self) -> None:
        self.operators: dict[str, None] = {}
        self.on_cpu: list[str] = []
        self.served: list[str] = []


def in_dtype(sample: Sample, d: str) -> Sample | None:
    """A sample with its first tensor's dtype, wherever that occurs, exchanged; None if it has none."""
    recipes = sample.recipes()
    if not recipes:
        return None
    first = recipes[0].dtype

    def changed(recipe: TensorRecipe) -> TensorRecipe:
        return replace(recipe, dtype=d) if recipe.dtype == first else recipe

    return sample.changed(changed)


def observed(d: OpDef) -> Notes:
    """Call an op with its first sample in every dtype."""
    import mindtorch_npu.aclnn as aclnn
    import mindtorch_npu.fallback as fallback

    notes = Notes()
    function = front(registry.entry(d.name))
    for name in DTYPES:
        left: list[str] = []
        launched: list[str] = []

        def cpu_fallback(op: str, *args: Any, left: list[str] = left, **kwargs: Any) -> Any:
            left.append(op)
            return torch.library.cpu_fallback(op, *args, **kwargs)

        def bound(operator: str, launched: list[str] = launched, real: Any = aclnn.bound) -> Any:
            launched.append(operator)
            return real(operator)

        for sample in samples(d)[:3]:
            variant = in_dtype(sample, name)
            if variant is None:
                variant, name = sample, "any"
            on_host = outcome(lambda v=variant: call(function, v, "cpu"))
            if isinstance(on_host, Exception):
                continue
            with (
                mock.patch.object(fallback, "cpu_fallback", cpu_fallback),
                mock.patch.object(aclnn, "bound", bound),
            ):
                found = outcome(lambda v=variant: call(function, v, "npu"))
            if isinstance(found, Exception):
                continue
            if name not in notes.served:
                notes.served.append(name)
            if left and name not in notes.on_cpu:
                notes.on_cpu.append(name)
            if not notes.operators and not left:
                notes.operators.update(dict.fromkeys(launched))
    return notes


def call(function: Any, sample: Sample, device: str) -> Any:
    """Call an op on a device."""
    args, kwargs = sample.build(device)
    return function(*args, **kwargs)


def row(d: OpDef, notes: Notes, direct: bool) -> str:
    """A line of the table."""
    operators = ", ".join(notes.operators)
    if not direct:
        operators = f"of other ops ({operators})" if operators else "of other ops"
    if d.traits.view:
        operators = "a view"
    everywhere = notes.on_cpu and set(notes.on_cpu) == set(notes.served)
    on_cpu = "all" if everywhere else ", ".join(notes.on_cpu)
    return f"| `{d.name}` | {operators if not everywhere else ''} | {on_cpu} |"


def files() -> dict[str, str]:
    """The page, made by calling every op."""
    os.environ["MINDTORCH_NPU_FALLBACK"] = "silent"
    warnings.simplefilter("ignore")
    torch.npu.init()
    key = registry.key_of("npu")
    rows: list[str] = []
    counts: dict[str, int] = defaultdict(int)
    for d in sorted(definitions(), key=lambda d: d.name):
        if d.functional is not None or not samples(d):
            continue  # in-place and out= forms follow their op
        notes = observed(d)
        direct = key in registry.entry(d.name).kernels
        if notes.on_cpu and notes.on_cpu == notes.served:
            kind = "left"
        elif d.traits.view:
            kind = "view"
        else:
            kind = "direct" if direct else "composed"
        counts[kind] += 1
        rows.append(row(d, notes, direct))
    text = (
        f"{counts['direct']} ops have kernels that launch operators, {counts['composed']} are made of those, "
        f"{counts['view']} are views, {counts['left']} are left to the CPU altogether."
    )
    head = "| op | operators | on the CPU for |\n| --- | --- | --- |"
    return {"docs/npu_ops.md": "\n".join([INTRODUCTION.format(counts=text), head, *rows]) + "\n"}
