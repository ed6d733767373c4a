"""What `CommDebugMode` has seen, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from .module_calls import ModuleCalls

__all__ = ["Noise", "as_json", "as_table"]

Counts = Mapping[str, Mapping[str, Mapping[Any, int]]]
Operations = Mapping[str, Sequence[dict[str, Any]]]

_TRIVIAL: Final = frozenset(
    f"aten.{name}"
    for name in (
        "detach.default", "t.default", "view.default", "_to_copy.default", "as_strided.default",
        "transpose.int",
    )
)  # fmt: skip
_YELLOW, _RED, _PLAIN = "\033[1;33m", "\033[1;31m", "\033[0m"


@dataclass(frozen=True)
class Noise:
    """What is shown.

    Attributes:
        modules: what is known of the modules, and ops.
        plain: ops on tensors that are no DTensors.
        trivial: ops that compute nothing.
    """

    modules: bool
    plain: bool
    trivial: bool

    @classmethod
    def of(cls, level: int) -> Self:
        """What a level of noise means, from 0 to 3."""
        return cls(level > 0, level > 1, level > 2)

    def shown(self, operations: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The operations that are shown."""
        if not self.modules:
            return []
        return [
            each
            for each in operations
            if (self.plain or each["input_sharding"])
            and (self.trivial or str(each["name"]) not in _TRIVIAL)
        ]


def _passes(operations: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], ...]:
    """Operations of forward, of backward, and of forward again for a backward pass."""
    again = [each for each in operations if each["is_activation_checkpointing"]]
    rest = [each for each in operations if not each["is_activation_checkpointing"]]
    forward = [each for each in rest if not each["is_bw"]]
    return forward, [each for each in rest if each["is_bw"]], again


def as_table(seen: ModuleCalls, counts: Counts, operations: Operations, noise: Noise) -> str:
    """A text of what each module did, in the order of the calls."""
    lines: list[str] = []
    for name, row in seen.module_helper_dict.items():
        indent = "    " * row["depth"]
        lines.append(f"{indent}{name}")
        if noise.modules and "module_type" in row:
            lines.append(f"{indent}*module type: {row['module_type']}")
        if noise.modules and "parameters" in row:
            lines.append(f"{indent}*Parameter List")
            lines += [f"{indent} *{own}: {how}" for own, how in row["parameters"].items()]
        of = counts.get(name, {})
        forward, backward, again = _passes(operations.get(name, ()))
        for title, called, made in (
            ("FORWARD PASS", of.get("forward", {}), forward),
            ("BACKWARD PASS", of.get("backward", {}), backward),
            ("ACTIVATION CHECKPOINTING", {}, again),
        ):
            if called or (made and noise.modules):
                lines.append(f"{indent}  {title}")
                lines += [f"{_YELLOW}{indent}    *{op}: {n}{_PLAIN}" for op, n in called.items()]
                for each in noise.shown(made):
                    lines += _described(each, indent)
    return "".join(f"{line}\n" for line in lines)


def _described(operation: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{_YELLOW}{indent}    **{operation['name']}{_PLAIN}"]
    if operation["input_shape"]:
        lines += [
            f"{_RED}{indent}      {title}: {operation[key]}{_PLAIN}"
            for title, key in (
                ("shape", "input_shape"),
                ("sharding", "input_sharding"),
                ("device mesh", "device_mesh"),
            )
        ]
    return lines


def as_json(
    seen: ModuleCalls,
    counts: Counts,
    operations: Operations,
    noise: Noise,
    name: str = "Global",
) -> dict[str, Any]:
    """A module, what it did, and the modules that it has called."""
    row, of = seen.module_helper_dict[name], counts.get(name, {})
    passes = _passes(operations.get(name, ()))
    shown = [[_as_text(each) for each in noise.shown(made)] for made in passes]
    known = noise.modules and "module_type" in row
    return {
        "fqn": name,
        "module_type": row["module_type"] if known else "",
        "parameters": list(row.get("parameters", {}).items()) if known else [],
        "children": [
            as_json(seen, counts, operations, noise, inner)
            for inner in seen.parent_dict.get(name, ())
        ],
        "collectives_forward": [(str(op), n) for op, n in of.get("forward", {}).items()],
        "collectives_backward": [(str(op), n) for op, n in of.get("backward", {}).items()],
        "operations_forward": shown[0],
        "operations_backward": shown[1],
        "operations_checkpointing": shown[2],
    }


def _as_text(operation: dict[str, Any]) -> dict[str, Any]:
    texts = {key: list(map(str, operation[key])) for key in ("input_shape", "input_sharding")}
    return {**operation, **texts, "name": str(operation["name"])}
