"""What libraries ask of `torch._prims_common` and `torch._utils`, answered as PyTorch does."""

import importlib

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

NAMES = {
    "_C": "_LinAlgError",
    "_prims_common": "Number NumberType DeviceLikeType TensorLike TensorLikeType",
    "_utils": "ExceptionWrapper classproperty _take_tensors",
    "distributed.autograd": "context is_available",
    "distributed.rpc": "RRef rpc_async rpc_sync is_available get_worker_info BackendType",
    "distributed.rpc.api": "UNSET_RPC_TIMEOUT _all_gather",
    "distributions.multivariate_normal": "_precision_to_scale_tril _batch_mv _batch_mahalanobis",
    "nn.modules.conv": "_ConvTransposeMixin",
    "nn.modules.pooling": "_AdaptiveAvgPoolNd _AdaptiveMaxPoolNd",
    "nn.modules.transformer": "_get_activation_fn _get_clones",
    "nn.parallel": "gather scatter replicate parallel_apply",
}
DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex64", "complex128",
]  # fmt: skip
OF_DTYPES = [
    "is_float_dtype", "is_integer_dtype", "is_boolean_dtype", "is_complex_dtype", "is_grad_dtype",
    "is_low_precision_dtype", "dtype_to_type", "corresponding_real_dtype", "corresponding_complex_dtype",
    "get_computation_dtype",
]  # fmt: skip
OF_SHAPES = [
    "u.canonicalize_dim(3,-1)", "u.canonicalize_dim(3,3)", "u.canonicalize_dim(0,-1)",
    "u.canonicalize_dim(0,0,False)", "u.canonicalize_dims(3,(0,-1))", "u.canonicalize_dims(3,-2)",
    *(f"u.make_contiguous_strides_for({s})" for s in ((2, 3, 4), (2, 0, 4), (), (5,))),
    *(f"u.make_contiguous_strides_for({s},False)" for s in ((2, 3, 4), (2, 3), (4,), (2, 0, 3))),
    *(f"u.type_to_dtype({t})" for t in ("float", "int", "bool", "complex", "str")),
    "u.reduction_dims((2,3),None)", "u.reduction_dims((2,3),(-1,))", "u.reduction_dims((2,3),(1,1))",
    "u.same_shape((2,3),(2,3))", "u.same_shape((2,),(2,1))", "u.is_same_shape((2,3),[2,3])",
    "u.is_expandable_to((3,),(2,3))", "u.is_expandable_to((2,),(2,3))", "u.is_expandable_to((1,3),(3,))",
    "u.is_contiguous(lib.ones(2,3).t())", "u.is_contiguous(lib.ones(2,3))",
    "u.suggest_memory_format(lib.ones(1,2,3,4))", "isinstance(True,u.Number)", "isinstance('a',u.Number)",
]  # fmt: skip


@pytest.mark.parametrize("path", NAMES)
def test_names_that_pytorch_has(path):
    for root in ("mindtorch_core", "torch"):
        module = importlib.import_module(f"{root}.{path}")
        assert [name for name in NAMES[path].split() if not hasattr(module, name)] == []


def answer(lib, module, code):
    u = importlib.import_module(f"{lib.__name__}.{module}")
    try:
        found = eval(code, {"u": u, "lib": lib})
    except (IndexError, KeyError, RuntimeError, ValueError) as error:
        return type(error).__name__
    return found if isinstance(found, type) else str(found)


@pytest.mark.parametrize("name", OF_DTYPES)
def test_of_dtypes(name):
    codes = [f"u.{name}(lib.{dtype})" for dtype in DTYPES]
    if name == "corresponding_complex_dtype":
        codes.remove(f"u.{name}(lib.float16)")  # complex32, which nothing computes with here
    ours, theirs = ([answer(lib, "_prims_common", c) for c in codes] for lib in (torch, pt))
    assert ours == theirs


@pytest.mark.parametrize("code", OF_SHAPES)
def test_of_shapes(code):
    assert answer(torch, "_prims_common", code) == answer(pt, "_prims_common", code)


class Stubborn(Exception):
    def __init__(self, a, b):
        super().__init__(a)


class Told(Exception):
    message = "set"

    def __init__(self, message):
        super().__init__(message)


@pytest.mark.parametrize("error", [KeyError("a b"), ValueError("x"), Stubborn(1, 2), Told("y")])
def test_an_exception_of_another_thread(error):
    def reraised(lib):
        utils = importlib.import_module(f"{lib.__name__}._utils")
        try:
            raise error.with_traceback(None)
        except type(error):
            kept = utils.ExceptionWrapper(where="in worker 1")
        with pytest.raises(
            (KeyError, RuntimeError, Told, ValueError), match="in worker 1"
        ) as caught:
            kept.reraise()
        return type(caught.value), str(caught.value).replace(repr(lib), "")

    assert reraised(torch) == reraised(pt)


def test_a_property_of_a_class():
    class Named:
        name = torch._utils.classproperty(lambda cls: cls.__name__)

    class Lower(Named):
        pass

    assert (Named.name, Lower.name, Lower().name) == ("Named", "Lower", "Lower")


@pytest.mark.parametrize("limit", [4, 16, 24, 1000])
def test_tensors_in_groups_of_bytes(limit):
    def groups(lib):
        kinds = [
            (3, "float32"),
            (3, "float32"),
            (1, "int64"),
            (5, "float32"),
            (9, "int64"),
            (1, "float32"),
        ]
        tensors = [lib.ones(n, dtype=getattr(lib, kind)) for n, kind in kinds]
        utils = importlib.import_module(f"{lib.__name__}._utils")
        return [[(t.shape, str(t.dtype)) for t in g] for g in utils._take_tensors(tensors, limit)]

    assert groups(torch) == groups(pt)


def test_a_precision_as_its_factor():
    a = torch.tensor([[2.0, 0.3], [0.3, 1.0]])
    module = importlib.import_module("mindtorch_core.distributions.multivariate_normal")
    found = module._precision_to_scale_tril(a)
    expected = pt.distributions.multivariate_normal._precision_to_scale_tril(pt.tensor(a.tolist()))
    assert torch.allclose(found, torch.tensor(expected.tolist()))


def test_functions_that_want_rpc_are_refused_when_they_are_called():
    """Modules decorate theirs as they are imported."""
    called = []
    with_rpc = torch.distributed.rpc.api._require_initialized(called.append)
    assert with_rpc.__name__ == "append"
    with pytest.raises(NotImplementedError, match=r"append wants torch\.distributed\.rpc"):
        with_rpc(1)
    assert not called
