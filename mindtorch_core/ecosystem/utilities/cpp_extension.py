"""``torch.utils.cpp_extension``: mindtorch has no C++ to compile against, and says how to do without."""

from __future__ import annotations

from typing import Any, NoReturn

from ..absent import names_of

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "load", "load_inline"]

__getattr__ = names_of(__name__)

CUDA_HOME: str | None = None
ROCM_HOME: str | None = None
IS_HIP_EXTENSION: bool = False


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.cpp_extension.{what}: extensions in C++ or CUDA are compiled against PyTorch's "
        f"headers, and mindtorch is written in Python. Use the package's version without its "
        f"extension if it has one, or register the op's Python form with torch.library.custom_op; a package "
        f"can bring such ops in the entry-point group 'mindtorch.extensions'."
    )


def load(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to compile an extension.

    Raises:
        NotImplementedError: always.
    """
    _refuse(f"load({name!r})")


def load_inline(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to compile an extension.

    Raises:
        NotImplementedError: always.
    """
    _refuse(f"load_inline({name!r})")


def CppExtension(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to describe an extension.

    Raises:
        NotImplementedError: always.
    """
    _refuse(f"CppExtension({name!r})")


def CUDAExtension(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to describe an extension.

    Raises:
        NotImplementedError: always.
    """
    _refuse(f"CUDAExtension({name!r})")


class BuildExtension:
    """The command that builds extensions, which cannot be used."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """The command itself."""
        return cls


def include_paths(device_type: str = "cpu") -> list[str]:
    """Folders of headers: none."""
    return []


def is_ninja_available() -> bool:
    """False: nothing is compiled."""
    return False
