"""What notebooks show of explanations and of what a backend serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.markup import box, escaped, preformatted, table
from .text import module_path, names

if TYPE_CHECKING:
    from .explanation import Explanation, Row
    from .functions import FunctionInfo
    from .support import Coverage

__all__ = ["coverage_html", "explanation_html", "function_html"]


def explanation_html(e: Explanation) -> str:
    """The keys of a call in their order, what each does, and what runs."""
    parts = [f"<code>{escaped(e.schema or e.op)}</code>"]
    parts += [f"<p>{escaped(note)}</p>" for note in e.notes]
    parts.append(f"<p>keys: {escaped(', '.join(names(e.keys)) or 'none')}</p>")
    rows = [(row.key_name, row.outcome, _kernel(row), row.why) for row in e.rows]
    chosen = [i for i, row in enumerate(e.rows) if row.outcome == "chosen"]
    parts.append(table(("key", "outcome", "kernel", "why"), rows, chosen))
    if e.error is not None:
        parts += ["<p>The call raises:</p>", preformatted(e.error)]
    return box(*parts)


def _kernel(row: Row) -> str:
    if row.kernel is None:
        return ""
    return f"{row.kernel.name}, {module_path(row.kernel.source)}"


def function_html(f: FunctionInfo) -> str:
    """The ops that a function in Python calls, and what they may be made of."""
    parts = dict(f.made_of)
    rows = [(op, ", ".join(parts.get(op, ()))) for op in f.calls]
    head = f"<code>{escaped(f.name + f.signature)}</code>"
    where = f"<p>a function in Python, at {escaped(module_path(f.source))}</p>"
    return box(head, where, table(("calls", "which may be made of"), rows) if rows else "")


def coverage_html(c: Coverage) -> str:
    """How many ops are served in each way; the list of them folded away."""
    rows = [(each.op, each.served, "yes" if each.primitive else "") for each in c.ops]
    return box(
        f"<p>Ops on {escaped(c.device or c.key.name)}: {len(c.ops)}</p>",
        table(("served by", "ops"), c.totals.items()),
        f"<details><summary>all of them</summary>{table(('op', 'served by', 'primitive'), rows)}"
        "</details>",
    )
