"""Explicit deferred execution: record, plan, launch, settle.

Inside ``with torch.pipeline():`` an op returns at once with a tensor whose shape, dtype and history
are known and whose value is pending; the recorded ops run when the block ends or when somebody
looks at a value.
"""

from .. import dispatch
from ..dispatch.registry import registry
from ..values.dtypes import BEFORE_DEFAULT
from . import record
from .blocks import current_pipeline, flush_current
from .context import Pipeline
from .opening import pipeline_context
from .pictures import attached as pictures
from .programs import PROGRAMS
from .replay.sites import forget_sites
from .results import forget_answers
from .trace import Batch, Entry, Plan, RecordedOp, Step, StepFailed, Unsent, tensors_of

__all__ = [
    "Batch",
    "Entry",
    "Pipeline",
    "Plan",
    "RecordedOp",
    "Step",
    "StepFailed",
    "Unsent",
    "current_pipeline",
    "install",
    "pipeline_context",
    "tensors_of",
]


def install() -> None:
    """Serve the Pipeline key, and let pipelines be found in `mindtorch_core.dispatch` and be drawn."""
    record.serve_key()
    PROGRAMS.also_forget.append(forget_sites)
    registry.removed.append(PROGRAMS.forget)
    BEFORE_DEFAULT.extend((flush_current, forget_answers))
    pictures.attach()
    dispatch.current_pipeline = current_pipeline
    dispatch.pipeline_context = pipeline_context
