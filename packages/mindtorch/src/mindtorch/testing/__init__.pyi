"""`mindtorch_core.testing` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.testing import (
    BackendConformance as BackendConformance,
    DEVICE as DEVICE,
    LAYOUTS as LAYOUTS,
    Sample as Sample,
    TensorRecipe as TensorRecipe,
    WITHOUT_SAMPLES as WITHOUT_SAMPLES,
    assert_allclose as assert_allclose,
    assert_close as assert_close,
    assert_same_outcome as assert_same_outcome,
    build as build,
    default_tolerances as default_tolerances,
    from_pytorch as from_pytorch,
    make_tensor as make_tensor,
    outcome as outcome,
    sampler as sampler,
    samples as samples,
    tensor as tensor,
)
