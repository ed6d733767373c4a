"""`mindtorch_core.ecosystem.compiler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    compile as compile,
    cudagraph_mark_step_begin as cudagraph_mark_step_begin,
    disable as disable,
    is_compiling as is_compiling,
    is_dynamo_compiling as is_dynamo_compiling,
    is_exporting as is_exporting,
    list_backends as list_backends,
    reset as reset,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
)
