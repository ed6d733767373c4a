"""Parameters that are given twice, or share memory, make one step after the other, as PyTorch's do."""

import warnings

import pytest

import mindtorch_core as mt

pt = pytest.importorskip("torch")
NAMES = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD",
]  # fmt: skip


def trained(torch, name, size, options):
    w, v = (torch.nn.Parameter(torch.linspace(0.5, 1.5, size)) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is given twice
        optimizer = getattr(torch.optim, name)([w, v, w], lr=0.1, **options)
    for _ in range(3):
        optimizer.zero_grad()
        (w * w * 2 + v).sum().backward()
        optimizer.step()
    return w.tolist(), v.tolist()


@pytest.mark.parametrize("size", [3, 5000])  # small ones are computed together
@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_that_is_given_twice_steps_twice(name, size):
    for options in ({}, {} if name == "Rprop" else {"weight_decay": 0.1}):
        wanted, found = trained(pt, name, size, options), trained(mt, name, size, options)
        for a, b in zip(wanted, found, strict=True):
            assert b == pytest.approx(a, rel=1e-5, abs=1e-6)


def fused(torch, parts):
    """One step of SGD over parts of one line of memory."""
    line = torch.ones(40)
    views = [line[first:last] for first, last in parts]
    grads = [torch.full((last - first,), 1.0 + i) for i, (first, last) in enumerate(parts)]
    torch._fused_sgd_(
        views, grads, [], weight_decay=0.5, momentum=0.0, lr=0.1, dampening=0.0, nesterov=False,
        maximize=False, is_first_step=True,
    )  # fmt: skip
    return line.tolist()


@pytest.mark.parametrize(
    "parts",
    [
        [(0, 10), (10, 20), (20, 40)],
        [(0, 10), (0, 10)],
        [(0, 10), (5, 15)],
        [(5, 15), (0, 10), (20, 30)],
        [(0, 40), (5, 10), (10, 20), (5, 10)],
    ],
)
def test_parts_of_one_memory_come_one_after_the_other(parts):
    assert fused(mt, parts) == pytest.approx(fused(pt, parts))
