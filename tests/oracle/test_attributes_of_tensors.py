"""What tensors refuse by themselves, in attributes that are no ops, is what PyTorch refuses, and what they take it takes."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ODD = [
    "1",
    "'a'",
    "None",
    "[]",
    "object()",
    "1.5",
    "True",
    "(1,)",
    "{}",
    "other",
    "-1",
    "x",
    "lambda g: g",
]
PROPERTIES = [
    "H", "T", "mH", "mT", "data", "device", "dtype", "grad", "grad_fn", "is_leaf", "is_meta", "is_sparse", "itemsize",
    "layout", "names", "nbytes", "ndim", "output_nr", "requires_grad", "retains_grad", "shape", "real", "imag",
]  # fmt: skip
METHODS = [
    "as_subclass", "coalesce", "data_ptr", "dense_dim", "detach_", "dim", "element_size", "get_device", "indices",
    "is_complex", "is_floating_point", "is_inference", "is_nonzero", "is_shared", "is_signed", "item", "ndimension",
    "nelement", "numel", "numpy", "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "retain_grad",
    "share_memory_", "sparse_dim", "storage_offset", "storage_type", "tolist", "untyped_storage", "values",
    "is_contiguous", "is_coalesced",
    "_is_view", "module_load", "is_conj", "is_neg", "resolve_conj",
]  # fmt: skip


def outcome(lib: Any, program: str, of: str) -> Any:
    """What a program's error is, by type, and in words where they name an argument."""
    x = {
        "leaf": lambda: lib.ones(2, 3),
        "parameter": lambda: lib.ones(2, requires_grad=True),
        "result": lambda: lib.ones(2, 3, requires_grad=True) * 2,
        "integer": lambda: lib.arange(4),
        "complex": lambda: lib.zeros(2, dtype=lib.complex64),
    }[of]()
    try:
        exec(program, {"x": x, "other": lib.ones(2), "torch": lib})
    except Exception as error:  # noqa: BLE001 (compared)
        kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        named = ": argument '" in str(error) and "must be bool" in str(error)
        return kind, str(error) if named else None
    return x.requires_grad, x.tolist()


@pytest.mark.parametrize("of", ["leaf", "parameter", "result", "integer", "complex"])
@pytest.mark.parametrize("name", [*PROPERTIES, *METHODS])
@pytest.mark.filterwarnings("ignore")
def test_odd_values(name: str, of: str) -> None:
    if name in PROPERTIES:
        programs = [f"x.{name} = {value}" for value in ODD] + [f"x.{name}"]
    else:
        programs = [
            f"x.{name}({', '.join(pair)})"
            for pair in [(), *((v,) for v in ODD), ("1", "1"), ("foo=1",)]
        ]
    for program in programs:
        assert outcome(torch, program, of) == outcome(pt, program, of), program


def test_tensors_without_elements_have_no_address():
    for lib in (torch, pt):
        x = lib.ones(2, 2)
        assert x.data_ptr()
        assert x[0:0].data_ptr() == x[:, :0].data_ptr() == lib.empty(0).data_ptr() == 0
        assert x.resize_(0, 2).data_ptr() == 0


def test_new_takes_sizes_by_name():
    for lib in (torch, pt):
        assert lib.ones(2).new(size=(3, 4)).shape == (3, 4)
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            lib.ones(2).new((1,), 2)


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_size_of_a_storage_grows_with_its_elements():
    for lib in (torch, pt):
        none, ten = (lib.ones(n).storage().__sizeof__() for n in (0, 10))
        assert ten - none == 40


def test_modes_of_determinism():
    found = []
    for lib in (torch, pt):
        said = []
        for mode, warns in ((True, True), (True, False), (False, True), (False, False)):
            lib.use_deterministic_algorithms(mode, warn_only=warns)
            said.append(modes(lib))
        for name in ("warn", "error", "default", 1, 2, 0):
            lib.set_deterministic_debug_mode(name)
            said.append(modes(lib))
        found.append(said)
    assert found[0] == found[1]


def modes(lib):
    return (
        lib.are_deterministic_algorithms_enabled(),
        lib.is_deterministic_algorithms_warn_only_enabled(),
        lib.get_deterministic_debug_mode(),
    )


@pytest.mark.parametrize("number", [1.5, 3, True])
@pytest.mark.parametrize("name", ["Tensor", "LongTensor", "new"])
def test_classes_of_tensors_return_a_tensor_of_one_number(name, number):
    """It is no size."""

    def made(lib):
        given = lib.tensor(number)
        try:
            found = (lib.ones(2).new if name == "new" else getattr(lib, name))(given)
        except TypeError:
            return TypeError
        return found.tolist(), str(found.dtype), found.data_ptr() == given.data_ptr()

    assert made(torch) == made(pt)


def test_the_type_called_tensor_is_of_the_default_dtype():
    for lib in (torch, pt):
        for name in (lib.Tensor, "torch.Tensor"):
            assert lib.ones(2, dtype=lib.int32).type(name).dtype is lib.float32
        with pytest.raises(ValueError, match="invalid type"):
            lib.ones(2).type("Tensor")


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("call", [
    ("cauchy_", float("inf"), 0.5), ("cauchy_", 0.5, float("inf")), ("normal_", float("-inf"), 2.0),
    ("normal_", 1.0, float("inf")), ("log_normal_", float("inf"), 1.0),
])  # fmt: skip
def test_infinite_parameters_of_distributions(call, size):
    found = []
    for lib in (torch, pt):
        lib.manual_seed(3)
        found.append(getattr(lib.empty(size), call[0])(*call[1:]).tolist())
    assert found[0] == pytest.approx(found[1], nan_ok=True)
