"""The pipeline under the path that users and plugins import: `mindtorch_core.deferred` holds it."""

from ..deferred import (
    Batch,
    Entry,
    Pipeline,
    Plan,
    RecordedOp,
    Step,
    StepFailed,
    Unsent,
    current_pipeline,
    pipeline_context,
    tensors_of,
)

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
    "pipeline_context",
    "tensors_of",
]
