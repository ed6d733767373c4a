"""Names that PyTorch's files have besides their own, which programs import from there."""

import importlib

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def test_what_editors_import_from_torch_functional():
    from mindtorch_core import functional

    assert functional.F is torch.nn.functional
    assert functional.Tensor is torch.Tensor
    with pytest.raises(AttributeError, match="none"):
        functional.none


def test_containers_of_parameters_are_among_the_containers():
    from mindtorch_core.nn.modules import container

    for name in ("ParameterDict", "ParameterList"):
        assert getattr(container, name) is getattr(torch.nn, name)
        assert getattr(pt.nn.modules.container, name) is getattr(pt.nn, name)


def test_what_is_copied_from_default_collate():
    made = []
    for lib in (torch, pt):
        own = importlib.import_module(f"{lib.__name__}.utils.data._utils.collate")
        functions = own.default_collate_fn_map
        made.append(
            [
                own.default_collate_err_msg_format.format(int),
                own.np_str_obj_array_pattern.pattern,
                own.collate_numpy_array_fn(
                    [np.ones(2), np.zeros(2)], collate_fn_map=functions
                ).tolist(),
                own.collate_numpy_scalar_fn(
                    [np.float32(1), np.float32(2)], collate_fn_map=functions
                ).tolist(),
            ]
        )
    assert made[0] == made[1]
