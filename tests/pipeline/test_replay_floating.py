"""Views that lie elsewhere in each run: blocks that slice with other numbers each time are replayed."""

import pytest

import mindtorch_core as torch


def runs(block, numbers):
    """Results of a block for each number, and how many of its ops were replayed in the last run."""
    results = []
    for n in numbers:
        with torch.pipeline() as pipe:
            found = block(n)
        results.append([t.tolist() for t in found])
        stats = pipe.stats()
    return results, (stats["replayed"], stats["recorded"])


X = torch.arange(60.0).reshape(20, 3)

READS = {
    "rows": lambda i: ((X[i : i + 2] * 2 + 1).tanh(),),
    "a row": lambda i: (X[i] * 2,),
    "an element": lambda i: (X[i, 1] + X[:, 0],),
    "narrow": lambda i: (X.narrow(0, i, 3).sum(0), X.sum()),
    "columns of rows": lambda i: (X[i : i + 4].t() + 1, X[2 * i : 2 * i + 4, 1:] - 1),
    "of a view": lambda i: (X.view(4, 15)[:, i : i + 2] * X.view(-1)[i],),
    "steps": lambda i: (X[i : i + 8 : 2] * X[i + 1 : i + 9 : 2],),
    "unfolded": lambda i: (X.select(0, i).unsqueeze(0).expand(4, 3) + 1,),
    "from the end": lambda i: (X[-i - 3 : -i - 1] * 1,),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name):
    block, numbers = READS[name], [*range(9)]
    found, (replayed, recorded) = runs(block, numbers)
    assert found == [[t.tolist() for t in block(i)] for i in numbers]
    assert replayed == recorded > 0


def test_other_sizes_are_recorded_anew_and_right():
    def block(i):
        return (X[i : 2 * i + 1].sum(1),)

    found, _ = runs(block, range(8))
    assert found == [[t.tolist() for t in block(i)] for i in range(8)]


def test_a_cache_that_is_filled_row_by_row():
    def filled():
        cache = torch.zeros(12, 3)

        def block(i):
            cache[i].copy_(X[i] * 2)
            cache[i : i + 2].add_(1)
            return cache.sum(0), cache

        return block

    found, (replayed, recorded) = runs(filled(), range(9))
    block = filled()
    assert found == [[t.tolist() for t in block(i)] for i in range(9)]
    assert replayed == recorded > 0


def test_batches_of_a_training_step():
    def trained(piped):
        torch.manual_seed(0)
        w = torch.full((3, 2), 0.01, requires_grad=True)
        for i in range(8):
            with torch.pipeline() if piped else torch.enable_grad():
                loss = ((X[2 * i : 2 * i + 2] / 60) @ w).tanh().square().mean()
                loss.backward()
                with torch.no_grad():
                    w -= 0.5 * w.grad
                    w.grad = None
        return w.tolist(), loss.item()

    assert trained(piped=True) == trained(piped=False)


def test_a_block_at_whose_place_another_tensor_is_viewed():
    def block(t, i):
        with torch.pipeline():
            return t[i : i + 2] * 2

    others = [X, X.double(), X.t().contiguous().t(), X[::2], X.int()]
    for i in range(15):
        t = others[i % 5]
        found, wanted = block(t, i % 7), t[i % 7 : i % 7 + 2] * 2
        assert (found.dtype, found.stride()) == (wanted.dtype, wanted.stride())
        assert found.tolist() == wanted.tolist()


def test_a_write_through_a_view_is_seen_by_who_has_read_the_base_before():
    def block(t, i):
        before = t + 0
        t[i] += 10
        return before, t * 1, t[i : i + 1] + 0

    def all_runs(piped):
        t, found = torch.zeros(9), []
        for i in range(8):
            with torch.pipeline() if piped else torch.enable_grad():
                results = block(t, i)
            found.append([r.tolist() for r in results])
        return found

    assert all_runs(piped=True) == all_runs(piped=False)
