"""``docs/ops.md``: every op with what its definition says about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dispatch.whole import by_parts_because
from mindtorch_core.operators import NONDIFF, OpDef, definitions
from mindtorch_core.plugins import load

INTRODUCTION: Final = """\
# Ops

Written by `docs/make.py` from the definitions in `mindtorch_core/operators/`. Do not edit.

{counts}

How to read the tables:

- **Schema**: PyTorch's grammar. The argument `self` is called `input` in `torch.` functions.
- **Found in**: `torch`, `Tensor`, `F` for `torch.nn.functional`, `linalg`, `fft`, `special`, ... Ops without
  serve others, or a Python function of the same name.
- **Gradient**: the arguments that have a formula; *derived* where it comes from the ops that a composition is
  made of: a device's own kernel is recorded as one node, whose backward computes them anew; *by parts* where
  they are recorded in any case, and a device's own kernel is
  [passed over](backend.md#train-with-fused-kernels) in training; *none* where the result does not depend
  smoothly on the arguments.
- **In-place**: where the form that ends in `_` is found. **out=**: whether results can be written
  into a given tensor.
- **CPU**: whether `mindtorch-cpu` has a kernel of its own. Without one, the composition runs.
"""

SECTIONS: Final = {
    "Primitives": "What a backend supplies kernels for. Everything else can be made of them.",
    "Left to the host": "Factorizations, Fourier transforms and special functions, which numerical libraries "
    "compute. A device without a kernel for one can have the CPU compute it "
    "(`torch.library.cpu_fallback`).",
    "Views": "Ops whose result shares memory with their first argument. The core supplies them.",
    "Compositions": "Ops that are made of other ops. A backend may register a kernel all the same.",
}
COLUMNS: Final = (
    "Op", "Schema", "Found in", "Gradient", "In-place", "out=", "CPU", "What it does",
)  # fmt: skip
NAMESPACES: Final = {"nn": "F", "signal": "signal.windows"}  # others are shown as they are called


def section_of(d: OpDef) -> str:
    """The section that lists an op."""
    if d.traits.primitive:
        return "Primitives"
    if d.traits.host:
        return "Left to the host"
    return "Views" if d.traits.view else "Compositions"


def places(namespaces: Sequence[str]) -> str:
    """Where users find an op, with its name there if it differs."""
    out = []
    for place in namespaces:
        namespace, _, other = place.partition(":")
        out.append(NAMESPACES.get(namespace, namespace) + (f" (`{other}`)" if other else ""))
    return ", ".join(out)


def gradient(d: OpDef) -> str:
    """Where an op's gradient comes from."""
    if d.grad == NONDIFF:
        return "*none*"
    if d.grad is None:
        if d.decomposition is None:
            return ""
        name = d.name if "::" in d.name else f"aten::{d.name}"
        return "*by parts*" if by_parts_because(registry.entry(name)) else "*derived*"
    return ", ".join(d.grad)


def row(d: OpDef) -> tuple[str, ...]:
    """The cells of an op's row."""
    return (
        f"`{d.name}`",
        f"`{d.schema}`",
        places(d.exposure.namespaces),
        gradient(d),
        places(d.inplace.namespaces) if d.inplace else "",
        "yes" if d.out else "",
        "yes" if DispatchKey.CPU in registry.entry(d.name).kernels else "",
        " ".join(d.doc.partition("\n\n")[0].split()).replace("``", "`"),  # a row is one line
    )


def table(rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', chr(92) + '|') for c in r)} |" for r in lines)


def files() -> dict[str, str]:
    """The page."""
    load("cpu")
    every = definitions()
    # An in-place variant shares its op's row, unless the op is made of it.
    listed = [d for d in every if d.functional is None or d.traits.primitive]
    sections = {title: [d for d in listed if section_of(d) == title] for title in SECTIONS}
    variants = sum(d.functional is not None for d in every)
    needed = sum(d.traits.primitive for d in every)
    counts = f"{len(every) - variants} ops and {variants} in-place variants of them."
    counts += f" A backend supplies {needed} of these, the primitives."
    parts = [INTRODUCTION.format(counts=counts)]
    for title, ops in sections.items():
        rows = [row(d) for d in sorted(ops, key=lambda d: d.name.lstrip("_"))]
        parts.append(f"## {title}\n\n{SECTIONS[title]}\n\n{table(rows)}\n")
    return {"docs/ops.md": "\n".join(parts)}
