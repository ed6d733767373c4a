"""`mindtorch_core.ecosystem.jit` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.jit import (
    Attribute as Attribute,
    Error as Error,
    Final as Final,
    TracerWarning as TracerWarning,
    annotate as annotate,
    export as export,
    fork as fork,
    freeze as freeze,
    ignore as ignore,
    interface as interface,
    is_scripting as is_scripting,
    is_tracing as is_tracing,
    isinstance as isinstance,
    onednn_fusion_enabled as onednn_fusion_enabled,
    optimized_execution as optimized_execution,
    script as script,
    script_if_tracing as script_if_tracing,
    script_method as script_method,
    unused as unused,
    wait as wait,
)
