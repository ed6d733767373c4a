"""The ops of torchaudio's compiled library, against SciPy, sums over all paths, and finite differences."""

import itertools
import math

import pytest

import mindtorch_audio
import mindtorch_core as torch
from mindtorch_audio.transducer import rnnt_loss_forward
from mindtorch_core.autograd import gradcheck


@pytest.fixture(autouse=True, scope="module")
def library():
    """Defined while these tests run: others count the ops that there are."""
    for name in ("_torchaudio", "libtorchaudio"):
        torch.ops.load_library(f"/somewhere/torchaudio/lib/{name}.so")
    yield
    for each in (mindtorch_audio.LIBRARY, mindtorch_audio.ABOUT):
        each._destroy()


@pytest.fixture(autouse=True)
def ops():
    assert torch.ops._torchaudio.is_align_available() is True
    assert torch.ops._torchaudio.cuda_version() is None
    return torch.ops.torchaudio


def test_a_filter_by_what_it_put_out(ops):
    signal = pytest.importorskip("scipy.signal")
    torch.manual_seed(0)
    x = torch.randn(2, 3, 20, dtype=torch.float64)
    a = torch.tensor([[1.0, -0.5, 0.2], [1.0, 0.3, -0.4], [1.0, 0.0, 0.0]], dtype=torch.float64)
    out = torch.zeros(2, 3, 22, dtype=torch.float64)
    assert ops._lfilter_core_loop(x, a.flip(1), out) is out
    for batch, channel in itertools.product(range(2), range(3)):
        wanted = signal.lfilter([1.0], a[channel].numpy(), x[batch, channel].numpy())
        assert out[batch, channel, 2:].tolist() == pytest.approx(wanted.tolist())


def test_overdrive(ops):
    torch.manual_seed(0)
    wave, bent = torch.rand(2, 2, 6, dtype=torch.float64).unbind()
    last_in, last_out, out = (
        torch.zeros(2).double(),
        torch.ones(2).double(),
        torch.empty(2, 6).double(),
    )
    ops._overdrive_core_loop(wave, bent, last_in, last_out, out)
    went = torch.ones(2).double()
    for i in range(6):
        went = bent[:, i] - (bent[:, i - 1] if i else 0) + 0.995 * went
        torch.testing.assert_close(out[:, i], wave[:, i] * 0.5 + went * 0.75)
    torch.testing.assert_close(last_out, went)
    assert torch.equal(last_in, bent[:, -1])


def spelled(path, blank):
    return [label for label, _ in itertools.groupby(path) if label != blank]


@pytest.mark.parametrize("targets", [[1, 2], [2, 2], [3], [1, 1, 2]], ids=str)
def test_the_likeliest_alignment_of_all(ops, targets):
    torch.manual_seed(0)
    log_probs = torch.randn(1, 6, 4).log_softmax(-1)
    rows = log_probs[0].tolist()
    best = max(
        (path for path in itertools.product(range(4), repeat=5) if spelled(path, 0) == targets),
        key=lambda path: sum(row[label] for row, label in zip(rows, path, strict=False)),
    )
    ints = torch.tensor([targets], dtype=torch.int32)
    paths, scores = ops.forced_align(
        log_probs, ints, torch.tensor([5]), torch.tensor([len(targets)]), 0
    )
    assert paths.tolist() == [[*best, 0]]
    assert paths.dtype is torch.int32
    assert torch.equal(scores, log_probs)


def test_alignments_that_cannot_be(ops):
    log_probs = torch.zeros(1, 2, 4)
    with pytest.raises(RuntimeError, match="number of repeats: 1"):
        ops.forced_align(log_probs, torch.tensor([[1, 1]]), torch.tensor([2]), torch.tensor([2]), 0)
    with pytest.raises(RuntimeError, match="must be 1"):
        ops.forced_align(
            log_probs.expand(2, 2, 4),
            torch.tensor([[1], [1]]),
            torch.tensor([2, 2]),
            torch.tensor([1, 1]),
            0,
        )


def summed(log_probs, targets, frames):
    """What a row costs: of every order of waiting and saying that ends with waiting."""
    total, steps = 0.0, frames + len(targets) - 1
    for said_at in itertools.combinations(range(steps), len(targets)):
        t = u = 0
        path = 0.0
        for step in [*(i in said_at for i in range(steps)), False]:
            path += log_probs[t][u][targets[u] if step else 0]
            t, u = (t, u + 1) if step else (t + 1, u)
        total += math.exp(path)
    return -math.log(total)


def test_the_loss_of_a_transducer_is_of_all_paths(ops):
    torch.manual_seed(0)
    logits = torch.randn(2, 4, 3, 5)
    targets, frames, numbers = (
        torch.tensor([[2, 1], [3, 0]]),
        torch.tensor([4, 3]),
        torch.tensor([2, 1]),
    )
    costs, gradient = ops.rnnt_loss_forward(logits, targets, frames, numbers, 0, -1.0, True)
    rows = logits.log_softmax(-1).tolist()
    wanted = [summed(rows[0], [2, 1], 4), summed(rows[1], [3], 3)]
    assert costs.tolist() == pytest.approx(wanted, rel=1e-5)
    assert gradient.shape == logits.shape
    assert not gradient[1, 3].any()
    assert not gradient[1, :, 2].any()
    clamped = ops.rnnt_loss_forward(logits, targets, frames, numbers, 0, 0.1, True)[1]
    assert torch.equal(clamped, gradient.clamp(-0.1, 0.1))
    again = ops.rnnt_loss_forward(logits.log_softmax(-1), targets, frames, numbers, 0, -1.0, False)[
        0
    ]
    torch.testing.assert_close(again, costs)


def test_its_gradient_is_that_of_differences():
    torch.manual_seed(0)
    logits = torch.randn(1, 3, 3, 4, dtype=torch.float64)
    rest = (torch.tensor([[2, 1]]), torch.tensor([3]), torch.tensor([2]), 0, -1.0, True)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            cost, gradient = rnnt_loss_forward(x, *rest)
            ctx.save_for_backward(gradient)
            return cost

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0] * g

    assert gradcheck(Loss.apply, logits.requires_grad_())
