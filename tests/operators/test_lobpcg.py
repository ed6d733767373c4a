"""``torch.lobpcg`` against PyTorch and against eigenvalues of the whole matrix."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
RNG = np.random.default_rng(5)
MIXED = RNG.normal(size=(2, 18, 18))
MATRICES = MIXED @ MIXED.transpose(0, 2, 1) + np.eye(18)
ROOT = RNG.normal(size=(18, 18))
WEIGHT = ROOT @ ROOT.T / 18 + np.eye(18)
START = RNG.normal(size=(18, 3))

CASES = {
    "largest": {"k": 2}, "smallest": {"k": 2, "largest": False}, "start": {"X": START}, "one": {},
    "start of more": {"k": 2, "X": START}, "n": {"k": 2, "n": 3}, "weighted": {"k": 2, "B": WEIGHT},
    "preconditioned": {"k": 2, "largest": False, "iK": np.linalg.inv(MATRICES[0])}, "basic": {"k": 2, "method": "basic"},
    "weighted and preconditioned": {"k": 1, "B": WEIGHT, "largest": False, "iK": np.linalg.inv(MATRICES[0])},
}  # fmt: skip


def called(lib, matrix, options):
    given = {k: lib.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    lib.manual_seed(0)
    return lib.lobpcg(matrix, **given, niter=800, tol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_as_in_pytorch(name):
    options = CASES[name]
    ours, theirs = (called(lib, lib.tensor(MATRICES[0]), options) for lib in (torch, pt))
    assert ours[0].tolist() == pytest.approx(theirs[0].tolist(), rel=1e-8)
    assert np.abs(ours[1].numpy()) == pytest.approx(np.abs(theirs[1].numpy()), abs=1e-6)


@pytest.mark.parametrize("niter", [2, 3, 5, 0, -1, None])
def test_steps_are_counted_as_in_pytorch(niter):
    looks = []

    def called(lib):
        tracker = lambda seen: looks.append((lib is pt, seen.ivars["istep"]))  # noqa: E731
        start = lib.tensor(START)
        w, v = lib.lobpcg(lib.tensor(MATRICES[0]), X=start, niter=niter, tracker=tracker)
        return np.abs(v.numpy()), w.numpy()

    for found, wanted in zip(called(torch), called(pt), strict=True):
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert [n for theirs, n in looks if not theirs] == [n for theirs, n in looks if theirs]


def test_one_look_gives_the_pairs_of_the_start():
    w, v = torch.lobpcg(torch.tensor(MATRICES[0]), X=torch.tensor(START), niter=1)
    held = np.linalg.qr(START)[0]
    wanted, inner = np.linalg.eigh(held.T @ MATRICES[0] @ held)
    assert w.numpy() == pytest.approx(wanted[::-1])
    assert np.abs(v.numpy()) == pytest.approx(np.abs(held @ inner[:, ::-1]))


def test_batches_and_sparse_matrices():
    w, v = called(torch, torch.tensor(MATRICES), {"k": 2, "X": START})
    whole = np.linalg.eigvalsh(MATRICES)[:, ::-1]
    assert w.numpy() == pytest.approx(whole[:, :2])
    assert tuple(v.shape) == (2, 18, 2)
    assert np.einsum("bij,bjk->bik", MATRICES, v.numpy()) == pytest.approx(
        v.numpy() * w.numpy()[:, None], abs=1e-5
    )
    sparse = torch.tensor(MATRICES[0]).to_sparse().requires_grad_()
    w, _ = called(torch, sparse, {"k": 2})
    assert w.tolist() == pytest.approx(whole[0, :2])
    w.sum().backward()
    assert sparse.grad.to_dense().trace().item() == pytest.approx(2)


def test_gradients_are_those_of_all_eigenvectors():
    def loss(lib, w, v):
        return (w**2).sum() + ((v**2).sum(1) * lib.arange(18.0, dtype=lib.float64)).sum()

    a = torch.tensor(MATRICES[0], requires_grad=True)
    loss(torch, *called(torch, a, {"k": 2})).backward()
    b = pt.tensor(MATRICES[0], requires_grad=True)
    w, v = pt.linalg.eigh(b)
    loss(pt, w[-2:], v[:, -2:]).backward()
    assert a.grad.numpy() == pytest.approx(b.grad.numpy(), abs=1e-6)


def test_single_precision_and_the_tracker():
    steps = []
    matrix = torch.tensor(MATRICES[0]).float()
    w, v = torch.lobpcg(
        matrix, k=2, niter=4, tracker=lambda seen: steps.append(seen.ivars["istep"])
    )
    assert w.dtype is v.dtype is torch.float32
    assert steps == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"A": torch.ones(4, 5)}, ValueError, "square"),
        ({"A": torch.eye(4), "k": 2}, ValueError, "3 x the number.*eigh"),
        ({"A": torch.eye(9), "method": "x"}, ValueError, "basic, ortho"),
        ({"A": torch.eye(9).requires_grad_(), "B": torch.eye(9)}, NotImplementedError, "Cholesky"),
    ],
)
def test_what_does_not_fit(arguments, error, words):
    with pytest.raises(error, match=words):
        torch.lobpcg(**arguments)
