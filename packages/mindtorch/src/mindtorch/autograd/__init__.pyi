"""`mindtorch_core.autograd` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.autograd import (
    Function as Function,
    Node as Node,
    backward as backward,
    detect_anomaly as detect_anomaly,
    enable_grad as enable_grad,
    forward_ad as forward_ad,
    grad as grad,
    gradcheck as gradcheck,
    gradgradcheck as gradgradcheck,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_detect_anomaly as set_detect_anomaly,
    set_grad_enabled as set_grad_enabled,
    set_multithreading_enabled as set_multithreading_enabled,
)
from mindtorch_core.autograd import (
    function as function,
    functional as functional,
    graph as graph,
    profiler as profiler,
)
