"""`torch.futures` without processes: order, errors and types as in PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def chained(lib):
    seen, first, second = [], lib.futures.Future(), lib.futures.Future()
    after = first.then(lambda f: f.value() + 1)
    last = after.then(lambda f: 1 / (f.value() - 3))
    both = lib.futures.collect_all([first, second])
    both.add_done_callback(lambda f: seen.append([each.value() for each in f.value()]))
    kinds = [type(f) is lib.Future for f in (after, last, both)]
    states = [after.done(), both.done()]
    first.set_result(2)
    states += [after.done(), both.done()]
    second.set_result("two")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        last.wait()
    return kinds, states, after.wait(), both.done(), lib.futures.collect_all([]).wait(), seen


def test_what_comes_after_futures():
    assert chained(torch) == chained(pt)


def test_errors_are_handed_on():
    for lib in (torch, pt):
        first = lib.futures.Future()
        both = lib.futures.collect_all([first])
        first.set_exception(ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            first.wait()
        assert both.done()
        with pytest.raises(ValueError, match="no"):
            lib.futures.wait_all([first])
