"""One scenario, run on both libraries: what it returns, or how it fails, must be the same."""

import warnings

import pytest

import mindtorch_core


def plain(value):
    """A result in terms that compare: tensors by everything that users see of them."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [type(value).__name__, *map(plain, value)]
    if hasattr(value, "tolist"):
        kind = str(value.dtype).rpartition(".")[2]
        return [kind, list(value.shape), value.requires_grad, value.grad_fn is None, value.tolist()]
    return value


def agree(a, b):
    if isinstance(a, float | complex) and isinstance(b, float | complex):
        return a == b or abs(a - b) <= 1e-5 + 1e-5 * abs(b) or (a != a and b != b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(agree(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def outcome(call, lib):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(call(lib))
        except Exception as error:  # noqa: BLE001  (the outcome is the exception)
            return error


def assert_same(call):
    """Run ``call(lib)`` with this library and with PyTorch."""
    torch = pytest.importorskip("torch")
    found, wanted = outcome(call, mindtorch_core), outcome(call, torch)
    if isinstance(wanted, Exception):
        alike = isinstance(found, type(wanted)) or type(found).__name__ == type(wanted).__name__
        assert alike, f"{wanted!r} was expected, got {found!r}"
    else:
        if isinstance(found, Exception):
            raise found
        assert agree(found, wanted), f"\nexpected {wanted}\ngot      {found}"


@pytest.fixture
def same():
    return assert_same
