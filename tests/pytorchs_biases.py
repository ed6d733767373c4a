"""PyTorch's ``nn.attention.bias``, imported without the compiler that it only names some classes to.

Loaded, the compiler changes how an interpreter counts references, for all tests of the process.
"""

import sys
from importlib import import_module
from types import ModuleType

import torch

BIASES, COMPILER = "torch.nn.attention.bias", "torch._dynamo"

if BIASES not in sys.modules and COMPILER not in sys.modules:
    stand_in = ModuleType(COMPILER)
    stand_in.allow_in_graph = lambda found: found
    sys.modules[COMPILER] = torch._dynamo = stand_in
    try:
        import_module(BIASES)
    finally:
        del sys.modules[COMPILER], torch._dynamo
