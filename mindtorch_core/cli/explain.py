"""Show which kernels a call of an op runs, and why.

The rows are the dispatch keys of the call, highest first: what is registered there, from which line
and by which distribution, and why the key is skipped or chosen. CHOSEN is the kernel that the call
runs, 'then' are those that wrappers call below, 'may follow' are those that run if the kernel above
calls the op again. Of a function in Python, such as F.cross_entropy, the ops are listed that it calls.

Examples:
  mindtorch explain add
  mindtorch explain F.cross_entropy
  mindtorch explain max.dim --requires-grad
  mindtorch explain aten::exp --device CUDA
  mindtorch explain --native gelu
"""

from __future__ import annotations

import argparse
import inspect
import re

from .usage import UsageError, add_json, add_modules, import_modules, print_json, usage_errors

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("op", metavar="OP", help="such as add, aten::add, add.Tensor or F.softmax")
    parser.add_argument(
        "--device",
        default="cpu",
        help="where the tensors live (default: cpu); or a backend's dispatch key such as CUDA, which "
        "need not be installed",
    )
    for option, text in {
        "--requires-grad": "a tensor requires grad",
        "--pipeline": "inside torch.pipeline()",
        "--inference": "inside torch.inference_mode()",
        "--autocast": "inside torch.autocast(device)",
        "--modes": "inside a dispatch mode",
    }.items():
        parser.add_argument(option, action="store_true", help=text)
    parser.add_argument(
        "--native",
        action="store_true",
        help="show the program that the device's backend compiles for the op instead",
    )
    add_modules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the explanation."""
    from ..inspection import explain, find_function

    import_modules(options.modules)
    if options.native:
        return _show_program(options.op, options.device)
    function = find_function(options.op)
    if function is not None:
        if options.json:
            print_json(function.to_dict())
        else:
            print(function)
        return 0
    _refuse_module(options.op)
    with usage_errors():
        found = explain(
            options.op,
            device=options.device,
            requires_grad=options.requires_grad,
            pipeline=options.pipeline,
            inference=options.inference,
            autocast=options.autocast,
            modes=options.modes,
        )
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0


def _refuse_module(name: str) -> None:
    """Say of a module what to ask for instead: what its ``forward`` calls."""
    place, _, last = name.rpartition(".")
    if not last[:1].isupper() or place.rpartition(".")[2] not in ("", "nn", "modules"):
        return
    from .. import nn

    module = getattr(nn, last, None)
    if not isinstance(module, type):
        return
    try:
        source = inspect.getsource(module.forward)  # type: ignore[attr-defined]  # or it is no module
    except (AttributeError, OSError, TypeError):
        source = ""
    called = dict.fromkeys(re.findall(r"\b(F\.[a-z]\w*)\(", source))
    instead = " or ".join(called) if called else "an op or a function that it calls"
    raise UsageError(f"{name} is a module: ask for what its forward calls, {instead}")


def _show_program(op: str, device: str) -> int:
    """Print what the backend of a device compiles for an op; 1 if it compiles nothing."""
    from ..inspection.naming import find_op
    from ..plugins.loader import ask

    with usage_errors():
        found = ask(device, "mindtorch_native", op=find_op(op).name)
    print(found or f"the backend {device} compiles nothing")
    return 0 if found else 1
