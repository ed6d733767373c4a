"""Explanations, coverage and keys as text for people, at most 100 columns wide, or a terminal's."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..dispatch.keys import DispatchKeySet
    from .explanation import Explanation, KernelInfo, Row
    from .functions import FunctionInfo
    from .key_list import AliasInfo, KeyInfo
    from .support import Coverage, OpSupport

__all__ = [
    "PRIMITIVES",
    "alias_text",
    "coverage_head",
    "coverage_text",
    "explanation_text",
    "function_text",
    "key_rows",
    "keys_text",
    "names",
    "support_rows",
]

WIDTH: Final = 100
PRIMITIVES: Final = "* a primitive"  # below a table of ops that has some
_NARROWEST: Final = 60

_OUTCOMES: Final = {
    "chosen": "CHOSEN",
    "called": "then",
    "next": "may follow",
    "blocked": "blocked",
    "skipped": "skipped",
    "excluded": "excluded",
    "missing": "MISSING",
    "unreached": "unreached",
}


def line_width() -> int:
    """How long lines may be: as the terminal is wide that they are printed on, but `WIDTH` at most."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(_NARROWEST, min(WIDTH, shutil.get_terminal_size().columns))


def names(keys: DispatchKeySet) -> list[str]:
    """Names of keys, highest first."""
    return [key.name for key in keys]


def explanation_text(e: Explanation) -> str:
    """The text of ``mindtorch explain``."""
    namespace, _, op = e.op.partition("::")
    lines = wrapped(f"{namespace}::{e.schema.removeprefix(f'{namespace}::')}" if e.schema else e.op)
    if e.overloads:
        base = op.partition(".")[0]
        lines += wrapped("stands for " + ", ".join(f"{base}.{o}" for o in e.overloads), 2)
    if e.siblings:
        lines += wrapped("see also " + ", ".join(e.siblings), 2)
    for note in e.notes:
        lines += wrapped(note, 2)
    lines += ["", *wrapped("keys: " + (", ".join(names(e.keys)) or "none"))]
    if e.added:
        lines += wrapped("of them from the thread's masks: " + ", ".join(names(e.added)))
    lines.append("")
    key_width = max((len(row.key_name) for row in e.rows), default=0)
    state_width = max((len(_OUTCOMES[row.outcome]) for row in e.rows), default=0)
    for row in e.rows:
        head = f"  {row.key_name:{key_width}}  {_OUTCOMES[row.outcome]:{state_width}}  "
        lines += _row_lines(row, head)
    if e.error is not None:
        lines += ["", "The call raises:"]
        for line in e.error.splitlines():
            lines += wrapped(line.strip(), 2 + len(line) - len(line.lstrip()))
    return "\n".join(lines)


def function_text(f: FunctionInfo) -> str:
    """The text of ``mindtorch explain`` for a function in Python."""
    lines = wrapped(f"{f.name}{f.signature}")
    lines += wrapped(f"a function in Python, at {module_path(f.source)}", 2)
    lines += [
        "",
        *wrapped("calls: " + (", ".join(f.calls) or "ops that it chooses by name when it runs")),
    ]
    for op, parts in f.made_of:
        lines += wrapped(f"{op} may be made of: {', '.join(parts)}", 2)
    if f.calls:
        lines += ["", *wrapped(f"'mindtorch explain {f.calls[0]}' shows which kernels that runs.")]
    return "\n".join(lines)


def _row_lines(row: Row, head: str) -> list[str]:
    """A row: the kernel's name and place beside the key, what it does and why under it."""
    width = line_width() - len(head)
    lines: list[str] = []
    if row.kernel is not None:
        lines += [_supplied(row.kernel), shown_path(row.kernel.source)]
        if row.kernel.registered is not row.key:
            lines.append(f"registered at {row.kernel.registered.name}")
    for sentence in (row.why, *row.notes):
        lines += wrapped(sentence, width=width)
    if row.calls is not None:
        what = "calls" if row.outcome in ("chosen", "called") else "would call"
        lines += wrapped(f"{what} what is below: {', '.join(names(row.calls))}", width=width)
    for kernel in row.shadowed:
        lines += [f"hides {_supplied(kernel)}", f"      {shown_path(kernel.source)}"]
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]


def _supplied(kernel: KernelInfo) -> str:
    return kernel.name + (f" of {kernel.distribution}" if kernel.distribution else "")


def coverage_text(c: Coverage, ops: Sequence[OpSupport]) -> str:
    """The text of ``mindtorch ops``, with those of the ops that are asked for."""
    lines = coverage_head(c)
    if ops:
        head, *rows = support_rows(ops)
        lines += ["", *_fitted([head, *rows])]
        if any(each.primitive for each in ops):
            lines += ["", PRIMITIVES]
    return "\n".join(lines)


def coverage_head(c: Coverage) -> list[str]:
    """How many ops a backend serves in which way."""
    supplier = f", supplied by {c.distribution}" if c.distribution else ""
    where = f"{c.device} (key {c.key.name}{supplier})" if c.device else f"the key {c.key.name}"
    lines = [f"Ops on {where}: {len(c.ops)}", ""]
    lines += [f"  {how:13}  {n:4}" for how, n in c.totals.items() if n or how == "missing"]
    lacking = sum(each.served == "missing" for each in c.primitives)
    return [*lines, "", f"Of the {len(c.primitives)} primitives, which a backend has to supply, "
            + (f"{lacking} are missing." if lacking > 1 else f"{lacking or 'none'} is missing.")]  # fmt: skip


def support_rows(ops: Sequence[OpSupport]) -> list[tuple[str, str, str]]:
    """The table of ops, its head first."""
    rows = [
        (
            each.op,
            each.served + (" *" if each.primitive else ""),
            "" if each.kernel is None else module_path(each.kernel.source),
        )
        for each in ops
    ]
    return [("op", "served by", "where"), *rows]


def keys_text(keys: Sequence[KeyInfo], aliases: Sequence[AliasInfo], *, every: bool = False) -> str:
    """The text of ``mindtorch keys``: a row for each functionality, or for each key."""
    lines = ["Runtime keys, highest priority first", "", *columns(key_rows(keys, every=every))]
    return "\n".join([*lines, "", *alias_text(keys, aliases, every=every)])


def key_rows(keys: Sequence[KeyInfo], *, every: bool) -> list[tuple[str, ...]]:
    """The table of keys, its head first."""
    rows: list[tuple[str, ...]] = [("bit", "key", "what it is for")]
    if every:
        return rows + [(str(k.bit), k.key.name, k.purpose) for k in keys]
    groups: dict[str, list[KeyInfo]] = {}
    for k in keys:
        groups.setdefault(k.functionality, []).append(k)
    return rows + [_group_row(members) for members in groups.values()]


def alias_text(keys: Sequence[KeyInfo], aliases: Sequence[AliasInfo], *, every: bool) -> list[str]:
    """The aliases, with what they stand for."""
    lines = ["Aliases, which stand for runtime keys at registration", ""]
    for alias in aliases:
        members = [m.name for m in alias.members] if every else _families(alias, keys)
        lines += [*wrapped(f"{alias.key.name}: {alias.purpose}"), *wrapped(", ".join(members), 2)]
    return lines


def _group_row(members: Sequence[KeyInfo]) -> tuple[str, str, str]:
    high, low = members[0], members[-1]
    if high is low:
        return str(high.bit), high.key.name, high.purpose
    names = f"{high.key.name} ... {low.key.name}"
    return f"{low.bit}-{high.bit}", names, f"{high.functionality}: {high.purpose}"


def _families(alias: AliasInfo, keys: Sequence[KeyInfo]) -> list[str]:
    """Names of an alias's members, those of a whole functionality in one."""
    whole: dict[str, set[str]] = {}
    for k in keys:
        whole.setdefault(k.functionality, set()).add(k.key.name)
    of = {k.key: k.functionality for k in keys}
    here: dict[str, list[str]] = {}
    for member in alias.members:
        here.setdefault(of[member], []).append(member.name)
    out = []
    for family, found in here.items():
        absent = sorted(whole[family] - set(found))
        if found == [family]:
            out.append(family)
        elif absent:
            out.append(f"every {family} key but {' and '.join(absent)}")
        else:
            out.append(f"every {family} key")
    return out


def wrapped(text: str, indent: int = 0, *, width: int | None = None) -> list[str]:
    """Lines of a text, the second and later ones indented by four more."""
    return textwrap.wrap(
        text,
        line_width() if width is None else width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def shown_path(source: str) -> str:
    """``file:line``, relative to the current folder where the file lies in it."""
    return source.removeprefix(f"{Path.cwd()}{os.sep}")


def module_path(source: str) -> str:
    """``file:line``, relative to the folder that the module was imported from."""
    roots = [f"{root}{os.sep}" for root in sys.path if root]
    inside = [root for root in roots if source.startswith(root)]
    return source.removeprefix(max(inside, key=len, default=""))


def _fitted(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Rows of three cells within the width: after a long first cell, the third has its own line."""
    middle, last = (max(len(row[i]) for row in rows) for i in (1, 2))
    room = line_width() - middle - last - 4
    first = min(max(len(row[0]) for row in rows), max(room, 20))
    lines = []
    for a, b, c in rows:
        if len(a) <= first or not c:
            lines.append(f"{a:{first}}  {b:{middle}}  {c}".rstrip())
        else:
            lines += [f"{a}  {b}", " " * (first + middle + 4) + c]
    return lines


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows of cells as aligned lines."""
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return [
        "  ".join(f"{c:{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in table
    ]
