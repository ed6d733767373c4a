"""A call that fails says one thing: the op's own words, from the user's line on."""

import traceback

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import op

A, B = torch.ones(2), torch.ones(3)
FAILING = {
    "a + b": lambda: A + B,
    "add": lambda: torch.add(A, B),
    "add a number first": lambda: torch.add(1.5, "x"),
    "add_": lambda: A.add_(B),
    "recorded": lambda: torch.ones(2, requires_grad=True) * B,
    "three operands": lambda: torch.where(A > 0, A, B),
    "lerp": lambda: torch.lerp(A, B, B),
    "cat": lambda: torch.cat([torch.ones(2, 2), torch.ones(3, 3)], 1),
    "permute": lambda: torch.ones(2, 3).permute(0, 0),
    "transpose": lambda: torch.ones(2, 3).transpose(0, 5),
    "view": lambda: torch.ones(6).view(4, 4),
    "matmul": lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    "inv": lambda: torch.linalg.inv(torch.zeros(2, 2)),
    "solve": lambda: torch.linalg.solve(torch.zeros(2, 2), torch.ones(2)),
    "cholesky": lambda: torch.linalg.cholesky(-torch.eye(2)),
    "an index": lambda: A[torch.tensor([5])],
    "a dtype's name": lambda: torch.ones(2, dtype="float32"),
    "a dtype's name in sum": lambda: A.sum(dtype="float32"),
    "requires_grad": lambda: torch.ones(2, requires_grad="x"),
    "no tensor": lambda: torch.relu("x"),
    "no list": lambda: torch.stack(3),
    "no overload": lambda: torch.max(A, "x"),
    "on meta": lambda: A.to("meta") + B.to("meta"),
}


def failed(call):
    with pytest.raises(Exception, match=r".") as caught:
        call()
    return caught.value


@pytest.mark.parametrize("what", FAILING)
def test_one_error_and_few_frames(what):
    error = failed(FAILING[what])
    text = "".join(traceback.format_exception(error))
    assert "During handling" not in text
    assert "direct cause" not in text
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    assert len(own) <= 9


@pytest.mark.parametrize("what", FAILING)
def test_what_the_caller_was_handling_is_shown(what):
    mine = KeyError("mine")
    try:
        raise mine
    except KeyError:
        error = failed(FAILING[what])
    while error.__context__ is not None and error is not mine:
        error = error.__context__
    assert error is mine


def test_the_words_of_who_gave_the_kernel_stay():
    lib = torch.library.Library("failing", "FRAGMENT")
    lib.define("driver(Tensor x) -> Tensor")
    lib.define("slip(Tensor x) -> Tensor")

    def driver(x):
        try:
            raise OSError("device lost")
        except OSError as error:
            raise RuntimeError("cannot run") from error

    def slip(x):
        try:
            raise OSError("device lost")
        except OSError:
            return {}["no such code"]

    lib.impl("driver", driver, "CPU")
    lib.impl("slip", slip, "CPU")
    assert isinstance(failed(lambda: torch.ops.failing.driver(A)).__cause__, OSError)
    assert isinstance(failed(lambda: torch.ops.failing.slip(A)).__context__, OSError)
    with registry.scope():
        for name, fn in (("failing_driver", driver), ("failing_slip", slip)):
            op(f"{name}(Tensor self) -> Tensor", decomposition=fn, doc="Fail.")
        assert isinstance(failed(lambda: torch.failing_driver(A)).__cause__, OSError)
        assert isinstance(failed(lambda: torch.failing_slip(A)).__context__, OSError)
    lib._destroy()


def test_only_arguments_by_position_have_a_position():
    assert "argument 'dtype' must be" in str(failed(lambda: torch.ones(2, dtype="float32")))
    assert "argument 'dim' (position 2) must be" in str(failed(lambda: torch.sum(A, "x")))


def test_a_methods_object_is_not_counted():
    assert "'dim' (position 1) must be" in str(failed(lambda: A.sum("x")))
    assert "'dim' (position 1) must be" in str(failed(lambda: torch.Tensor.sum(A, "x")))
    assert "'other' (position 1) must be Tensor" in str(failed(lambda: A.add("x")))
    assert "'mat2' (position 1) must be Tensor" in str(failed(lambda: torch.ones(2, 2).mm("x")))
    text = str(failed(lambda: A.clamp("x")))
    assert "got (str), but" in text
    assert " * (Tensor min = None, Tensor max = None" in text
    assert "takes 2 positional arguments, not 3" in str(failed(lambda: A.clamp(1, 2, 3)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: torch.zeros(), "zeros() missing 1 required positional argument: 'size'"),
        (lambda x: x.gather(axis=0), "gather() missing 1 required positional argument: 'index'"),
        (lambda x: x.index_add(axis=0), "index_add() missing 2 required positional arguments: 'index' and 'source'"),
    ],
    ids=["no numbers", "one", "two"],
)  # fmt: skip
def test_what_is_missing_is_counted(call, text):
    with pytest.raises(TypeError) as error:
        call(torch.ones(2, 3))
    assert str(error.value) == text
