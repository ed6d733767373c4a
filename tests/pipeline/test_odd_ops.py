"""Ops of third parties with odd schemas, odd errors and odd arguments: in a pipeline as without one."""

import threading

import pytest

import mindtorch_core as torch


@pytest.fixture
def library():
    made = torch.library.Library("odd", "DEF")
    yield made
    made._destroy()


def define(library, schema, kernel, meta=None):
    library.define(schema)
    name = schema.partition("(")[0]
    library.impl(name, kernel, "CPU")
    if meta is not None:
        library.impl(name, meta, "Meta")
    return getattr(torch.ops.odd, name)


def played(call, times=3):
    """What a call gives without a pipeline; in pipelines, also those that are replayed, it gives the same."""
    expected = call()
    for _ in range(times):
        with torch.pipeline():
            found = call()
        assert [t.tolist() for t in found] == [t.tolist() for t in expected]
    return expected


def x():
    return torch.arange(4.0)


def test_an_op_that_returns_nothing_runs_at_once(library):
    def kernel(x, y):
        x.add_(1)
        y.mul_(2)

    put = define(library, "put(Tensor(a!) x, Tensor(b!) y) -> ()", kernel)

    def call():
        a, b = x() * 1, x() + 1
        c = a * 2
        assert put(a, b) is None
        return a, b, c, a + b

    a, *_ = played(call)
    assert a.tolist() == [1, 2, 3, 4]


def test_an_op_that_writes_two(library):
    def both(x, y):
        return x.add_(1), y.mul_(2)

    schema = "both(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))"
    write = define(library, schema, both, lambda x, y: (x, y))

    def call():
        a, b = x() * 1, x() + 1
        first, second = write(a, b)
        assert first is a
        assert second is b
        return a, b, first + second

    assert played(call)[2].tolist() == [3, 6, 9, 12]


def test_an_op_that_writes_one_of_two_and_gives_another(library):
    def kernel(x, y):
        y.add_(x)
        return y * 10

    schema = "second(Tensor x, Tensor(a!) y) -> Tensor"
    write = define(library, schema, kernel, lambda x, y: torch.empty_like(y))

    def call():
        a, b = x() * 1, x() + 1
        made = write(a, b)
        return b, made, made - b

    assert played(call)[1].tolist() == [10, 30, 50, 70]


def test_a_keyword_that_has_no_default(library):
    scaled = define(
        library, "scaled(Tensor x, *, float by, int times=1) -> Tensor",
        lambda x, *, by, times=1: x * by**times, lambda x, *, by, times=1: torch.empty_like(x),
    )  # fmt: skip

    def call():
        return scaled(x(), by=2.0), scaled(x(), by=3.0, times=2), scaled(x() + 1, by=0.5, times=1)

    assert [t[1].item() for t in played(call)] == [2, 9, 1]
    with torch.pipeline(), pytest.raises(RuntimeError, match="missing value for argument 'by'"):
        scaled(x())


def test_a_drawn_number_in_place_with_a_generator():
    def call():
        source = torch.Generator().manual_seed(5)
        a = x() * 1
        a.uniform_(0, 1, generator=source)
        return a, a + 1, (x() * 0).normal_(generator=source)

    played(call)


def test_a_shape_that_depends_on_values_is_no_promise(library):
    library.define("chosen(Tensor x) -> Tensor", tags=torch.Tag.dynamic_output_shape)
    library.impl("chosen", lambda x: x[x > 1], "CPU")

    def call():
        found = torch.ops.odd.chosen(x() + 1)
        return found, found * 2

    assert played(call)[0].tolist() == [2, 3, 4]


def test_an_alias_by_keyword_is_what_it_shows():
    def call():
        a = x() * 2
        return torch.add(a, other=a.detach()), torch.where(a > 2, input=a.detach(), other=a)

    played(call)


class Loud(Exception):
    """An error whose constructor does not take its own `args`."""

    def __new__(cls, what, /, *, times):
        return super().__new__(cls, what * times)

    def __init__(self, what, /, *, times):
        super().__init__(what * times)


ERRORS = {
    "with a constructor of its own": (
        lambda: Loud("no", times=2),
        torch.PipelineError,
        "Loud: nono",
    ),
    "of memory": (lambda: MemoryError("all is taken"), torch.OutOfMemoryError, "memory"),
    "of the system": (lambda: OSError(28, "no space"), OSError, "no space"),
    "with a cause": (lambda: ValueError("inner"), ValueError, "inner"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_told_each_time_that_a_value_is_asked_for(library, name):
    make, kind, words = ERRORS[name]

    def kernel(x):
        raise make()

    fail = define(library, "fail(Tensor x) -> Tensor", kernel, torch.empty_like)
    with pytest.raises(kind, match=words), torch.pipeline():  # noqa: PT012
        made = fail(x())
        later = made + 1
    for t in (made, later, made, later):
        with pytest.raises(torch.PipelineError, match="fail") as caught:
            t.tolist()
        assert words in str(caught.value)


def test_a_pipeline_that_is_entered_again_inside_of_another():
    with torch.pipeline() as outer:
        a = x() * 2
        with torch.pipeline() as inner:
            b = a + 1
            with outer:
                c = b * 3
                assert not b._pending  # what was recorded before came before
            d = c - a
        assert not d._pending
        e = d + 1
    assert [t.tolist() for t in (a, b, c, d, e)] == [
        [0, 2, 4, 6], [1, 3, 5, 7], [3, 9, 15, 21], [3, 7, 11, 15], [4, 8, 12, 16],
    ]  # fmt: skip
    assert inner is not outer


def test_a_block_ends_where_it_began():
    pipe = torch.pipeline()
    with pytest.raises(RuntimeError, match="has no open block in this thread"):
        pipe.__exit__(None, None, None)
    refused = []

    def leave():
        try:
            pipe.__exit__(None, None, None)
        except RuntimeError as error:
            refused.append(str(error))

    with pipe:
        made = x() + 1
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        assert made._pending
    assert "has no open block in this thread" in refused[0]
    assert made.tolist() == [1, 2, 3, 4]
    pipe.flush()  # nothing is left: nothing happens
    with pytest.raises(RuntimeError, match="has no open block"):
        pipe.__exit__(None, None, None)


def test_pictures_shorten_what_is_long():
    with torch.pipeline(trace=True) as pipe:
        a = torch.ones((1,) * 20).permute(*range(19, -1, -1)) + 1
        for _ in range(45):
            a = a + 1
            if a.ndim % 2 == 0:
                pipe.flush()
    graph = pipe.graph
    assert repr(graph).endswith(f"\n... and {len(graph) - 40} more ops")
    assert "…" in graph.to_dot()
    assert len(graph.first(3)) == 3
