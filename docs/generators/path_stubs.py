"""Stubs of modules that have a second path, such as ``mindtorch_core.optim`` or ``mindtorch.nn``.

The import system finds these by a table (`mindtorch_core.frontend.aliases`), which type checkers and
editors do not know: they look for a file at the path. Each stub says which module it stands for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import mindtorch_core as torch
import mindtorch_nn
from mindtorch_core.ecosystem.absent_names import ROWS
from mindtorch_core.ecosystem.device_faces import _STANDING
from mindtorch_core.frontend import surroundings
from mindtorch_core.frontend.aliases import source_of
from mindtorch_core.frontend.typed_storage import CLASSES
from mindtorch_core.plugins.absent_device import (
    _CLASSES,
    _FALSE,
    _RAISING,
    _ZERO,
    AbsentDevice,
)
from mindtorch_core.plugins.device_module import DeviceModule
from mindtorch_core.values.named_only import NAMED_DTYPES, QSCHEMES

from . import stubs

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = {
    "mindtorch_core": stubs.PACKAGE,
    "mindtorch": "packages/mindtorch/src/mindtorch",
}
LATE: Final = f"{stubs.FOLDER}/late.pyi"
HEADER: Final = (
    '"""`{source}` under PyTorch\'s path. Written by `docs/make.py`; do not edit."""\n\n'
)

# Modules below ``torch`` that programs import by their paths; a package stands before what is in it.
_WRITTEN: Final = """
    __future__ accelerator ao ao.nn ao.quantization
    amp amp.autocast_mode amp.grad_scaler
    autograd autograd.function autograd.functional autograd.graph autograd.profiler
    backends backends.cpu backends.cuda backends.cudnn backends.mkldnn backends.mps backends.openmp
    classes compiler cpu cuda cuda.amp
    distributed distributed.checkpoint distributed.checkpoint.state_dict distributed.device_mesh
    distributed.distributed_c10d distributed.fsdp distributed.nn distributed.tensor
    distributions distributions.constraints distributions.distribution distributions.kl
    distributions.transforms distributions.utils
    export fft func functional futures fx hub jit library linalg masked monitor mps mtia multiprocessing
    nested
    nn nn.attention nn.attention.bias nn.attention.flex_attention nn.common_types nn.functional nn.grad
    nn.init nn.modules nn.modules.module nn.modules.utils
    nn.parallel nn.parallel.distributed nn.parameter
    nn.utils nn.utils.parametrizations nn.utils.parametrize nn.utils.prune nn.utils.rnn
    nn.utils.stateless
    numa onnx
    optim optim.lr_scheduler optim.optimizer optim.swa_utils
    overrides package profiler profiler.profiler quantization quasirandom random return_types serialization
    signal signal.windows sparse special storage testing torch_version types
    utils utils.benchmark utils.checkpoint utils.collect_env utils.cpp_extension
    utils.data utils.data.dataloader utils.data.dataset utils.data.distributed utils.data.sampler
    utils.deterministic utils.dlpack utils.flop_counter utils.hooks utils.model_zoo utils.tensorboard
    version xpu
"""
PATHS: Final = _WRITTEN.split()
# Their names follow the machine or the ops, so that no type checker can know them.
OPEN: Final = frozenset({"return_types"})
# Devices' modules: functions of the device, or those that say that it is not there.
DEVICES: Final = frozenset({"cpu", "cuda", "mps", "mtia", "xpu"})

# What a module shows beside its ``__all__``, as PyTorch's does.
BESIDE: Final = {"mindtorch_nn.optim": ("Optimizer",), "mindtorch_core.optim": ("Optimizer",)}
HEADER_OF_LATE: Final = '''\
"""What ``torch`` shows beside functions of ops, and imports when it is first used.

Written by `docs/make.py` from the tables of these names. Do not edit.
"""

from typing import Any

from mindtorch_core.random import Generator
from mindtorch_core.values.dtypes import dtype
from mindtorch_core.values.named_only import qscheme
'''


def second_paths() -> Iterator[tuple[str, str]]:
    """Each path that is not where a module's file lies, and the path where it lies."""
    for name in PATHS:
        source = source_of(f"mindtorch_core.{name}")
        if source:
            yield f"mindtorch_core.{name}", source
        yield f"mindtorch.{name}", f"mindtorch_core.{name}"


def place_of(path: str) -> str:
    """Where the stub of a path lies, below the repository's root.

    In a folder of its own: of a file, pyright says that its source is missing.
    """
    root, _, name = path.partition(".")
    return f"{FOLDERS[root]}/{name.replace('.', '/')}/__init__.pyi"


def names_of(source: str) -> list[str] | None:
    """The public names of a module; None if all that it does not hide are."""
    if source.endswith(".tensorboard"):  # which wants a package to be imported
        return None
    module = importlib.import_module(source)
    if source == "mindtorch_core.nn":
        return sorted({*module.__all__, *mindtorch_nn.__all__})
    if source == "mindtorch_core.nn.functional":
        return sorted({*module.__all__, *stubs.packets_shown("nn", source)})
    listed = getattr(module, "__all__", None)
    if listed is None:
        return None
    return sorted({*listed, *BESIDE.get(source, ())})


def modules_in(package: str) -> list[str]:
    """The modules of `PATHS` in a package."""
    return [p.rpartition(".")[2] for p in PATHS if "." in p and p.rpartition(".")[0] == package]


def imported(source: str, names: Iterable[str]) -> str:
    """An import of names that shows them, which in a stub takes ``as``."""
    shown = [n if " as " in n else f"{n} as {n}" for n in names]
    return f"from {source} import (\n" + "".join(f"    {n},\n" for n in shown) + ")\n"


def has_file(source: str) -> bool:
    """Whether a module is more than a row of names."""
    return getattr(importlib.import_module(source), "__file__", None) is not None


def absent_stub(name: str, source: str) -> str:
    """What shows a module that only has names to be imported: those, of no type."""
    row, inner = ROWS[name], modules_in(name)
    names = {
        *row.functions.split(),
        *row.classes.split(),
        *row.errors.split(),
        *row.enums,
        *row.values,
    }
    text = HEADER.format(source=source) + "from typing import Any\n"
    if inner:
        text += imported(f"mindtorch_core.{name}", inner)
    return text + "\n" + "".join(f"{n}: Any\n" for n in sorted(names - {*inner}))


def stub(path: str, source: str) -> str:
    """What shows a module under another path."""
    name = path.partition(".")[2]
    if path.startswith("mindtorch_core") and name in ROWS and not has_file(source):
        return absent_stub(name, source)
    names, inner = names_of(source), modules_in(name)
    text = HEADER.format(source=source)
    if names is None:
        text += f"from {source} import *\n"
    elif rest := [n for n in names if n not in inner]:
        text += imported(source, rest)
    if inner:
        text += imported(path if path.startswith("mindtorch_core") else source, inner)
    if name in DEVICES and path.startswith("mindtorch_core"):
        text += device_functions(name)
    if name in OPEN:
        text += "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"
    return text


def device_functions(device: str) -> str:
    """What a device's module shows: functions around its runtime, and names of no type."""
    known = [n for n in vars(DeviceModule) if n[0] != "_"]
    absent = {n for n in dir(AbsentDevice(device)) if n[0] != "_"}
    rest = {*_STANDING, *_RAISING, *_ZERO, *_FALSE, *_CLASSES, *absent} - {*modules_in(device)}
    text = "from typing import Any\nfrom mindtorch_core.plugins.device_module import DeviceModule\n"
    text += "\n_functions: DeviceModule\n"
    text += "".join(f"{n} = _functions.{n}\n" for n in known)
    return text + "".join(f"{n}: Any\n" for n in sorted(rest - {*known}))


def short_name() -> str:
    """The stub of ``mindtorch`` itself."""
    modules = {p for p in PATHS if "." not in p}
    text = HEADER.format(source="mindtorch_core")
    text += imported("mindtorch_core", sorted({*torch.__all__} - modules))
    text += imported("mindtorch_core", sorted(modules))
    text += "from mindtorch_core.stubs.functions import *\n"
    return text + "from mindtorch_core.stubs.late import *\n"


def late() -> str:
    """The stub of what ``mindtorch_core`` finds late, beside functions of ops."""
    modules = [p for p in PATHS if "." not in p and p not in ("amp", "autograd")]
    homes: dict[str, list[str]] = {
        "mindtorch_core": modules,
        "mindtorch_core.frontend.typed_storage": ["TypedStorage"],
    }
    for name, room in surroundings.NAMES.items():
        homes.setdefault(f"mindtorch_core.ecosystem.{room}", []).append(name)
    for name, home in torch._HOMES.items():
        room, _, own = home.partition(":")
        homes.setdefault(f"mindtorch_core.{room}", []).append(f"{own} as {name}" if own else name)
    shown = {name.rpartition(" ")[2] for names in homes.values() for name in names}
    values = {
        **dict.fromkeys(NAMED_DTYPES, "dtype"),
        **dict.fromkeys(QSCHEMES, "qscheme"),
        **dict.fromkeys(CLASSES, "type[TypedStorage]"),
        "default_generator": "Generator",
        # Devices' modules, which follow the backends, and modules whose names all raise.
        **dict.fromkeys({"npu", *surroundings.PUBLIC} - shown, "Any"),
    }
    text = HEADER_OF_LATE + "\n__all__: list[str] = [\n"
    text += "".join(f'    "{n}",\n' for n in sorted({*shown, *values})) + "]\n\n"
    for home in sorted(homes):
        text += imported(home, sorted(homes[home]))
    return text + "\n" + "".join(f"{n}: {values[n]}\n" for n in sorted(values))


def files() -> dict[str, str | None]:
    """The stubs of second paths, in the core and in the package ``mindtorch``."""
    made: dict[str, str | None] = {place_of(p): stub(p, source) for p, source in second_paths()}
    made[f"{FOLDERS['mindtorch']}/__init__.pyi"] = short_name()
    made[LATE] = late()
    there = [
        path.relative_to(ROOT).as_posix()
        for folder in ("mindtorch_core", *FOLDERS.values())  # no stub lies in the core itself
        for path in (ROOT / folder).rglob("*.pyi")
    ]
    ours = [path for path in there if not path.startswith(f"{stubs.FOLDER}/")]
    return {path: made.get(path) for path in dict.fromkeys([*made, *ours])}
