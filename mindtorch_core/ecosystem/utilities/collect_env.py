"""``torch.utils.collect_env``: what a report of a fault says about the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import Any, NamedTuple

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]


class SystemEnv(NamedTuple):
    """What is known of the machine; None where there is nothing to say."""

    torch_version: str
    mindtorch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    accelerators: str
    backends: str
    cpu_info: str
    pip_version: str
    pip_packages: str
    threads: str
    variables: str


_VARIABLES = ("MINDTORCH_", "OMP_", "MKL_", "OPENBLAS_", "BLIS_", "ASCEND_", "PYTHONPATH")
_PACKAGES = ("mindtorch", "numpy", "torch", "triton", "transformers", "lightning", "onnx")


def _packages() -> str:
    found = {
        f"{each.metadata['Name']}=={each.version}"
        for each in importlib.metadata.distributions()
        if (each.metadata["Name"] or "").lower().startswith(_PACKAGES)
    }
    return "\n".join(sorted(found, key=str.lower))


def get_env_info() -> SystemEnv:
    """What is known of the machine."""
    import mindtorch_core as torch

    from ..torch_version import __version__ as version

    accelerator = torch.accelerator.current_accelerator()
    shown = f"{torch.accelerator.device_count()} x {accelerator}" if accelerator else "None"
    return SystemEnv(
        torch_version=str(version),
        mindtorch_version=str(version).rpartition("mindtorch.")[2],
        is_debug_build="False",
        cuda_compiled_version="None",
        os=platform.platform(),
        libc_version=" ".join(platform.libc_ver()).strip() or "N/A",
        python_version=sys.version.replace("\n", " "),
        python_platform=platform.platform(),
        is_cuda_available=str(torch.cuda.is_available()),
        accelerators=shown,
        backends=", ".join(f"{each.name} ({each.state})" for each in torch.plugins.backends()),
        cpu_info=f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs",
        pip_version=_version_of("pip"),
        pip_packages=_packages(),
        threads=f"{torch.get_num_threads()} for an op",
        variables="\n".join(_variables()) or "none",
    )


def _variables() -> list[str]:
    """Variables of the environment that change what mindtorch or the libraries below it do."""
    return [
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if name.startswith(_VARIABLES)
    ]


def _version_of(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return "N/A"


_TEXT = """\
PyTorch version: {torch_version}
mindtorch version: {mindtorch_version}
Is debug build: {is_debug_build}
CUDA used to build PyTorch: {cuda_compiled_version}

OS: {os}
Libc version: {libc_version}

Python version: {python_version}
Python platform: {python_platform}
Is CUDA available: {is_cuda_available}
Accelerators: {accelerators}
Backends of mindtorch: {backends}
CPU: {cpu_info}
Threads: {threads}

Variables of the environment:
{variables}

Versions of relevant libraries ({pip_version}):
{pip_packages}"""


def pretty_str(envinfo: SystemEnv) -> str:
    """What is known, as text."""
    return _TEXT.format(**envinfo._asdict())


def get_pretty_env_info() -> str:
    """What is known of the machine, as text."""
    return pretty_str(get_env_info())


def main(*args: Any) -> None:
    """Print it: ``python -m torch.utils.collect_env``."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
