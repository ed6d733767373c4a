"""Ops that a backend computes whole give a pipeline the bits that they give without one."""

import contextlib

import pytest

import mindtorch_core as torch

F = torch.nn.functional


def both(run):
    """What a function leaves, at once and in blocks that come again."""
    torch.manual_seed(0)
    wanted = run(contextlib.nullcontext)
    torch.manual_seed(0)
    return wanted, run(torch.pipeline)


@pytest.mark.parametrize("shape", [(4, 8), (4, 4, 2, 2), (3, 8, 5), (64, 16), (2, 4, 30, 30)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape, dtype, training):
    of_channels = {"dtype": torch.float32 if dtype is torch.bfloat16 else dtype}

    def run(block):
        w, b = (torch.randn(shape[1], **of_channels).requires_grad_() for _ in range(2))
        mean, var = torch.zeros(shape[1], **of_channels), torch.ones(shape[1], **of_channels)
        found = []
        for _ in range(5):
            x = torch.randn(shape, dtype=dtype).requires_grad_()
            with block():
                y = F.batch_norm(x, mean, var, w, b, training, 0.1)
                (y * y).sum().backward()
            found += [y.detach(), x.grad, mean.clone(), var.clone()]
        return [*found, w.grad, b.grad]

    wanted, found = both(run)
    assert all(map(torch.equal, wanted, found))


def test_batch_norm_is_one_op_with_what_it_writes_beside_it():
    x, mean, var = torch.randn(4, 8), torch.zeros(8), torch.ones(8)
    with torch.pipeline(trace=True) as pipe:
        F.batch_norm(x, mean, var, training=True)
        F.batch_norm(x, mean, var)
    names = [node.name.removeprefix("aten::") for node in pipe.graph]
    assert names.count("native_batch_norm") == 2
    assert names.count("mul_") == names.count("add_") == 2  # running means and variances
    assert mean._version == var._version == 2


@pytest.mark.parametrize("name", ["_fused_adam_", "_fused_adamw_"])
@pytest.mark.parametrize("amsgrad", [True, False])
def test_adam_with_a_gradient_that_lies_otherwise(name, amsgrad):
    def run(block):
        p, step = torch.randn(4, 4, 4), torch.zeros(())
        states = [torch.zeros(4, 4, 4) for _ in range(3)]
        for _ in range(3):
            g = torch.randn(4, 4, 4).transpose(0, 1)
            with block():
                step += 1
                getattr(torch, name)(
                    [p], [g], *([s] for s in states[:2]), [states[2]] if amsgrad else [], [step],
                    lr=0.01, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8,
                    amsgrad=amsgrad, maximize=False,
                )  # fmt: skip
        return [p, *states]

    wanted, found = both(run)
    assert all(map(torch.equal, wanted, found))
