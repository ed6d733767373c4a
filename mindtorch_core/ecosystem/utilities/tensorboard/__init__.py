"""``torch.utils.tensorboard``: writes what the package tensorboard shows."""

from __future__ import annotations

try:
    import tensorboard as _tensorboard  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "tensorboard":
        raise
    raise ModuleNotFoundError(
        "torch.utils.tensorboard writes by the package tensorboard, which is not installed: "
        "pip install tensorboard",
        name="tensorboard",
    ) from None

from .writer import FileWriter, RecordWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
