"""Dispatch: keys, schemas, the registry, tables of computed kernels, the functions that are called.

The two names below stand above dispatch: the pipeline attaches them when it is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..deferred import (
        current_pipeline,
        pipeline_context,
    )

__all__ = ["current_pipeline", "pipeline_context"]
