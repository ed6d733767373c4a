"""The libraries that tests of ``torch.func`` run with."""

import pytest

import mindtorch_core as torch

LIBRARIES = [torch]
try:
    import torch as pytorch
except ImportError:
    pass
else:
    LIBRARIES.append(pytorch)


@pytest.fixture(params=LIBRARIES, ids=lambda lib: lib.__name__)
def lib(request):
    return request.param
