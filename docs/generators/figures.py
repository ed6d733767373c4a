"""Tables of the README with figures: what the committed benchmarks have printed, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "benchmarks" / "results"

_CALLS: Final = {
    "eager": "12 small ops, geometric mean",
    "requires_grad": "the same on tensors that require grad",
    "backward": "forward and backward of four small ops",
    "training": "training step of a small network, batch 64",
    "library": "Python kernels: `torch.ops`, `Library.impl`, custom ops, a dispatch mode",
    "meta": "an op on the meta device",
    "import": "import with all backends loaded",
}
_STEPS: Final = {
    "gpt": "character GPT, 12 texts of 64 letters",
    "cnn": "convolutional network, 64 images",
    "lstm": "LSTM, 32 texts of 35 words",
    "transformer": "`nn.TransformerEncoder`, 2 layers",
    "gpt2 of transformers": "transformers' GPT-2, tiny",
}
_WAYS: Final = ("eager", "block", "captured", "compile")
_MILLION: Final = "chain 1,000,000"
_TEN: Final = "chain 10,000,000"
_SOME: Final = "chain 100,000"


def files() -> dict[str, str]:
    """The README with its tables of figures as the results have them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for header, rows in _TABLES.items():
        text = _with_rows(text, header, rows(_read(_SOURCES[header])))
    return {"README.md": text}


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _with_rows(text: str, header: str, rows: Iterator[tuple[str, ...]]) -> str:
    """A text in which the table below a header has these rows."""
    before, found, rest = text.partition(f"{header}\n")
    if not found:
        raise ValueError(f"the README has no table {header}")
    lines = rest.splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if not line.startswith("|"))
    made = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join([before, found, lines[0], *made, *lines[end:]])


def _calls(results: Any) -> Iterator[tuple[str, ...]]:
    for group, what in _CALLS.items():
        summary = results["summary"][group]
        yield what, f"{summary['torch']:.2f}", f"{summary['target']}"


def _steps(results: Any) -> Iterator[tuple[str, ...]]:
    cases = results["cases"]
    for name, what in _STEPS.items():
        both = [cases[f"{name}, {threads}"]["ratio"] for threads in ("1 thread", "2 threads")]
        yield what, *(", ".join(f"{r[way]:.2f}" for r in both if way in r) or "-" for way in _WAYS)


def _chain(results: Any) -> Iterator[tuple[str, ...]]:
    cases = results["cases"]

    def ratios(peer: str, *names: str) -> str:
        return ", ".join(f"{cases[name]['ratio'][peer]:.2f}" for name in names)

    ten, hundred = cases[_TEN], cases[_SOME]["seconds"]
    calls = 100 * hundred["mindtorch"] + cases[_SOME]["first_call_seconds"]["mindtorch"]
    peers = 100 * hundred["compile"] + cases[_SOME]["first_call_seconds"]["compile"]
    memory = ten["peak_bytes"]["mindtorch"] / ten["peak_bytes"]["torch"]
    both = f"{ratios('compile', _TEN)}, {ratios('jax', _TEN)}"
    yield "PyTorch, at 10 million elements", ratios("torch", _TEN), "0.15"
    yield "torch.compile and jax.jit, at 10 million", both, "0.6, 0.8"
    yield "PyTorch, at 1 million and at 100,000", ratios("torch", _MILLION, _SOME), "0.5, 0.8"
    yield "torch.compile, 100 calls at 100,000, compiling included", f"{calls / peers:.2f}", "0.1"
    yield "PyTorch, peak memory at 10 million", f"{memory:.2f}", "0.6"
    without = ratios("eager", _TEN, _MILLION, _SOME)
    yield "mindtorch without one, at 10 million, 1 million, 100,000", without, ""
    yield "jax.jit, at 1 million and at 100,000", ratios("jax", _MILLION, _SOME), ""


_CALLS_HEADER: Final = "| what | ratio | aim |"
_STEPS_HEADER: Final = "| step of | eager | in a block | captured | torch.compile |"
_CHAIN_HEADER: Final = "| the chain, in a pipeline, against | ratio | aim |"
_SOURCES: Final = {_CALLS_HEADER: "call_cost", _STEPS_HEADER: "ways", _CHAIN_HEADER: "pipeline"}
_TABLES: Final[dict[str, Callable[[Any], Iterator[tuple[str, ...]]]]] = {
    _CALLS_HEADER: _calls, _STEPS_HEADER: _steps, _CHAIN_HEADER: _chain,
}  # fmt: skip
