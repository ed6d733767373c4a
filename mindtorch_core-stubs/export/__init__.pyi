"""`mindtorch_core.ecosystem.export` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

Constraint: Any
Dim: Any
ExportGraphSignature: Any
ExportedProgram: Any
FlatArgsAdapter: Any
ShapesCollection: Any
dims: Any
draft_export: Any
export: Any
load: Any
register_dataclass: Any
save: Any
unflatten: Any
