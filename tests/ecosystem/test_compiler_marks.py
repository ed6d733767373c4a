"""What programs say of tensors to PyTorch's compiler is checked as there."""

import pytest

import mindtorch_core as torch

D, X = torch._dynamo, torch.ones(2, 3)


def test_what_is_said_of_sizes():
    for index in (0, -1, 5, [0, 1], (0, 1)):
        assert D.mark_dynamic(X, index) is None
        assert D.maybe_mark_dynamic(X, index) is None
        assert D.mark_static(X, index) is None
    assert D.mark_dynamic(X, 0, min=2, max=5, hint_override=3, specialize_on=[]) is None
    assert D.mark_dynamic(torch.nn.Linear(1, 1), 0) is None
    assert D.mark_static(X) is None
    assert D.mark_static(torch.nn.Linear) is torch.nn.Linear
    assert D.mark_static_address(X) is None
    assert D.decorators.mark_dynamic is D.mark_dynamic
    assert torch.compiler.allow_in_graph([abs, len]) == [abs, len]
    assert torch.compiler.allow_in_graph(abs) is abs


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: D.mark_dynamic(X, "a"), AssertionError, "Expected index to be int, list, or tuple"),
        (lambda: D.maybe_mark_dynamic(X, "a"), AssertionError, "Expected index to be int"),
        (lambda: D.mark_static(X, "a"), AssertionError, "Expected index to be int"),
        (lambda: D.mark_dynamic(3, 0), AttributeError, "'int' object has no"),
        (lambda: D.mark_dynamic(X), TypeError, "missing 1 required positional argument: 'index'"),
        (lambda: D.mark_dynamic(X, 0, lo=2), TypeError, "unexpected keyword argument 'lo'"),
        (lambda: D.mark_static(3), TypeError, "expects a tensor/nn.Module class"),
        (lambda: D.mark_static(int), TypeError, "expects a tensor/nn.Module class"),
        (lambda: D.mark_static_address(3), TypeError, "expects a tensor but received <class 'int'>"),
        (lambda: D.allow_in_graph(3), AssertionError, "allow_in_graph expects a callable"),
        (lambda: D.allow_in_graph([abs, 3]), AssertionError, "allow_in_graph expects a callable"),
        (lambda: D.disallow_in_graph(3), AssertionError, "disallow_in_graph expects a callable"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
