"""Layers that norm refuse too little data, and statistics that do not fit, in PyTorch's words."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

CALLS = {
    "instance_norm of one place": lambda t, F: F.instance_norm(t.ones(2, 3, 1)),
    "instance_norm of one pixel": lambda t, F: F.instance_norm(t.ones(2, 3, 1, 1)),
    "instance_norm of one voxel": lambda t, F: F.instance_norm(t.ones(2, 3, 1, 1, 1)),
    "instance_norm without places": lambda t, F: F.instance_norm(t.ones(2, 3)),
    "instance_norm by given statistics": lambda t, F: F.instance_norm(
        t.ones(2, 3, 1), t.zeros(3), t.ones(3), use_input_stats=False
    ),
    "instance_norm without statistics": lambda t, F: F.instance_norm(
        t.ones(2, 3, 4), use_input_stats=False
    ),
    "batch_norm of one value": lambda t, F: F.batch_norm(t.ones(1, 3), None, None, training=True),
    "batch_norm of one pixel": lambda t, F: F.batch_norm(
        t.ones(1, 3, 1, 1), None, None, training=True
    ),
    "batch_norm of one value by given statistics": lambda t, F: F.batch_norm(
        t.ones(1, 3), t.zeros(3), t.ones(3)
    ),
    "batch_norm without statistics": lambda t, F: F.batch_norm(t.ones(2, 3), None, None),
    "batch_norm with few statistics": lambda t, F: F.batch_norm(t.ones(2, 3), t.zeros(2), t.ones(2)),
    "group_norm of one value": lambda t, F: F.group_norm(t.ones(1, 3), 3),
    "group_norm of one value in each group": lambda t, F: F.group_norm(t.ones(1, 2, 1), 2),
    "group_norm of uneven groups": lambda t, F: F.group_norm(t.ones(2, 3, 4), 2),
    "group_norm of several samples": lambda t, F: F.group_norm(t.ones(2, 3), 3),
    "layer_norm of another shape": lambda t, F: F.layer_norm(t.ones(2, 3), [2]),
    "layer_norm of a single value": lambda t, F: F.layer_norm(t.ones(2, 1), [1]),
    "layer_norm of no shape": lambda t, F: F.layer_norm(t.ones(2, 1), []),
    "rms_norm of another shape": lambda t, F: F.rms_norm(t.ones(2, 3), [2]),
    "local_response_norm of a vector": lambda t, F: F.local_response_norm(t.ones(3), 2),
    "local_response_norm": lambda t, F: F.local_response_norm(t.ones(1, 3, 2), 2),
    **{
        f"{name} of one value": lambda t, F, name=name, n=n: getattr(t.nn, name)(3)(
            t.ones(1, 3, *[1] * n)
        )
        for name, n in [("InstanceNorm1d", 1), ("InstanceNorm2d", 2), ("BatchNorm1d", 0), ("BatchNorm2d", 2)]
    },
    "InstanceNorm1d that evaluates": lambda t, F: t.nn.InstanceNorm1d(
        3, track_running_stats=True
    ).eval()(t.ones(1, 3, 1)),
    "BatchNorm1d that evaluates": lambda t, F: t.nn.BatchNorm1d(3).eval()(t.ones(1, 3)),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_refused_or_computed(call):
    def played(lib):
        return CALLS[call](lib, lib.nn.functional).tolist()

    found, expected = outcome(played, torch), outcome(played, pt)
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        assert not missing(str(found), str(expected))
    else:
        np.testing.assert_allclose(found, expected, atol=1e-6)
