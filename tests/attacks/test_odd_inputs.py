"""What other libraries and Python hand over, in every place of a call: as in PyTorch, or a clear error."""

import warnings

import pytest
from known_inputs import known
from odd_values import VALUES

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome, outcome

pt = pytest.importorskip("torch")


def x(lib):
    return lib.arange(6.0).reshape(2, 3)


USES = {
    "tensor": lambda lib, v: lib.tensor(v),
    "tensor of float32": lambda lib, v: lib.tensor(v, dtype=lib.float32),
    "tensor of int64": lambda lib, v: lib.tensor(v, dtype=lib.int64),
    "tensor of bool": lambda lib, v: lib.tensor(v, dtype=lib.bool),
    "as_tensor": lambda lib, v: lib.as_tensor(v),
    "asarray": lambda lib, v: lib.asarray(v),
    "from_numpy": lambda lib, v: lib.from_numpy(v),
    "frombuffer": lambda lib, v: lib.frombuffer(v, dtype=lib.uint8),
    "from_dlpack": lambda lib, v: lib.from_dlpack(v),
    "new_tensor": lambda lib, v: x(lib).new_tensor(v),
    "add": lambda lib, v: x(lib) + v,
    "radd": lambda lib, v: lib.ones(2, dtype=lib.int64).__radd__(v),
    "mul of ints": lambda lib, v: lib.ones(3, dtype=lib.int32) * v,
    "torch.mul": lambda lib, v: lib.mul(x(lib), v),
    "eq": lambda lib, v: lib.eq(x(lib), v),
    "pow": lambda lib, v: lib.pow(x(lib), v),
    "where": lambda lib, v: lib.where(x(lib) > 2, v, x(lib)),
    "clamp": lambda lib, v: x(lib).clamp(max=v),
    "alpha": lambda lib, v: lib.add(x(lib), x(lib), alpha=v),
    "fill_": lambda lib, v: x(lib).fill_(v),
    "add_": lambda lib, v: x(lib).add_(v),
    "full": lambda lib, v: lib.full((2,), v),
    "full of int64": lambda lib, v: lib.full((2,), v, dtype=lib.int64),
    "index": lambda lib, v: x(lib)[v],
    "index of a column": lambda lib, v: x(lib)[:, v],
    "assign": lambda lib, v: x(lib).__setitem__(0, v),
    "assign at": lambda lib, v: x(lib).__setitem__(v, 1),
    "zeros": lambda lib, v: lib.zeros(v),
    "zeros of two": lambda lib, v: lib.zeros(2, v),
    "reshape": lambda lib, v: x(lib).reshape(v),
    "expand": lambda lib, v: lib.ones(1).expand(v),
    "permute": lambda lib, v: x(lib).permute(v),
    "sum": lambda lib, v: x(lib).sum(v),
    "sum of dims": lambda lib, v: lib.sum(x(lib), dim=v),
    "cumsum": lambda lib, v: x(lib).cumsum(v),
    "transpose": lambda lib, v: x(lib).transpose(v, 0),
    "unsqueeze": lambda lib, v: x(lib).unsqueeze(v),
    "split": lambda lib, v: x(lib).split(v),
    "narrow": lambda lib, v: x(lib).narrow(0, 0, v),
    "arange": lambda lib, v: lib.arange(v) if not isinstance(v, int) or v < 100 else None,
    "cat": lambda lib, v: lib.cat(v),
    "stack": lambda lib, v: lib.stack(v),
    "keepdim": lambda lib, v: x(lib).sum(0, keepdim=v),
    "out": lambda lib, v: lib.add(x(lib), x(lib), out=v),
    "dtype": lambda lib, v: x(lib).to(v),
    "device": lambda lib, v: lib.zeros(2, device=v),
    "requires_grad": lambda lib, v: lib.zeros(2, requires_grad=v),
    "data": lambda lib, v: setattr(x(lib), "data", v),
    "gradient": lambda lib, v: setattr(x(lib).requires_grad_(), "grad", v),
    "contains": lambda lib, v: v in x(lib),
    "item": lambda lib, v: x(lib).item() if v is None else None,
}


def safe(use, name):
    """Not what takes all memory, kills a process in either library, or has bytes that mean nothing."""
    huge = name in ("2**31", "numpy.uint64", "10**400") and use in (
        "zeros",
        "zeros of two",
        "expand",
    )
    aborts = use == "from_dlpack" and "stride" in name
    padded = use == "frombuffer" and name.lower() == "array of g"  # long doubles
    return not huge and not aborts and not padded


CLEAR = (TypeError, ValueError, RuntimeError, IndexError, BufferError, OverflowError)


def judged(mine, other):
    """What is wrong with an outcome, next to PyTorch's; errors need not be of one type."""
    if isinstance(mine, Exception):
        if not isinstance(other, Exception):
            return f"raises {mine!r} instead of giving {other!r}"
        return None if isinstance(mine, CLEAR) and str(mine) else f"is an internal error: {mine!r}"
    if isinstance(other, Exception) or other is NotImplemented:
        return None  # more is taken than PyTorch takes
    try:
        assert_same_outcome(lambda: mine, lambda: other, equal_nan=True)
    except AssertionError as error:
        return str(error)
    return None


@pytest.mark.parametrize("use", USES)
def test_as_pytorch(use):
    wrong = []
    for name, make in VALUES.items():
        if safe(use, name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mine, other = (outcome(USES[use], lib, make()) for lib in (torch, pt))
            problem = judged(mine, other)
            if problem and not known(use, name, problem):
                wrong.append(f"{name}: {problem}")
    assert not wrong, "\n".join([use, *wrong])
