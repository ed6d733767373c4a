"""`mindtorch_core.ecosystem.compiler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    compile as compile,
    cudagraph_mark_step_begin as cudagraph_mark_step_begin,
    disable as disable,
    get_default_backend as get_default_backend,
    is_compiling as is_compiling,
    is_dynamo_compiling as is_dynamo_compiling,
    is_exporting as is_exporting,
    list_backends as list_backends,
    nested_compile_region as nested_compile_region,
    reset as reset,
    set_default_backend as set_default_backend,
    set_enable_guard_collectives as set_enable_guard_collectives,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
    wrap_numpy as wrap_numpy,
)
