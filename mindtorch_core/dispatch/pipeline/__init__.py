"""Explicit deferred execution: record, plan, launch, settle.

Inside ``with torch.pipeline():`` an op returns at once with a tensor whose shape, dtype and history
are known and whose value is pending; the recorded ops run when the block ends or when somebody
looks at a value.
"""

from .context import Pipeline, current_pipeline, pipeline_context
from .record import install
from .trace import Batch, Entry, Plan, RecordedOp, Step, Unsent, tensors_of

__all__ = [
    "Batch",
    "Entry",
    "Pipeline",
    "Plan",
    "RecordedOp",
    "Step",
    "Unsent",
    "current_pipeline",
    "install",
    "pipeline_context",
    "tensors_of",
]
