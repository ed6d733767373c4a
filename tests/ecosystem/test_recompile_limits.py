"""Limits of recompiling: the kinds of tensors that PyTorch's compiler counts are counted, and refused alike."""

import pytest

import mindtorch_core as torch

ERRORS = torch._dynamo.exc
CONFIG = torch._dynamo.config
RANKS = [torch.ones((2,) * n) for n in range(1, 12)]
SIZES = [torch.ones(n) for n in range(2, 14)]
DTYPES = [
    torch.ones(2, dtype=d)
    for d in (
        torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64,
    )
]  # fmt: skip


def check_calls(fn, given, calls, error, **settings):
    """So many calls of a compiled function succeed, and the next one fails, if there is one."""
    with CONFIG.patch(**settings):
        for x in given[:calls]:
            assert torch.equal(fn(x), x * 2)
        if calls < len(given):
            with pytest.raises(error):
                fn(given[calls])


def backend(graph, inputs):
    return graph.forward


@pytest.mark.parametrize("of", ["inductor", backend], ids=["inductor", "function"])
@pytest.mark.parametrize(
    ("dynamic", "given", "calls"),
    [
        (None, RANKS, 8), (None, DTYPES, 8), (None, SIZES, 12),
        (True, RANKS, 8), (True, SIZES, 12),
        (False, RANKS, 8), (False, DTYPES, 8), (False, SIZES, 8),
    ],
)  # fmt: skip
def test_one_graph_has_a_limit_of_kinds(dynamic, given, calls, of):
    fn = torch.compile(lambda x: x * 2, fullgraph=True, dynamic=dynamic, backend=of)
    check_calls(fn, given, calls, ERRORS.FailOnRecompileLimitHit)
    assert fn(given[0]).tolist() == (given[0] * 2).tolist()  # what is known goes on
    torch._dynamo.reset()
    assert fn(given[-1]).tolist() == (given[-1] * 2).tolist()
    plain = torch.compile(lambda x: x * 2, dynamic=dynamic, backend=of)
    check_calls(plain, given, len(given), None)


@pytest.mark.parametrize(
    "name", ["recompile_limit", "cache_size_limit", "accumulated_recompile_limit"]
)
@pytest.mark.parametrize("fullgraph", [False, True])
def test_limits_that_are_set(name, fullgraph):
    def compiled(**options):
        return torch.compile(lambda x: x * 2, fullgraph=fullgraph, **options)

    error = ERRORS.FailOnRecompileLimitHit
    check_calls(compiled(), RANKS, 2 if fullgraph else len(RANKS), error, **{name: 2})
    check_calls(compiled(), RANKS, 2, error, **{name: 2, "fail_on_recompile_limit_hit": True})
    if fullgraph:
        check_calls(compiled(recompile_limit=3), RANKS, 3, error)
        check_calls(compiled(), RANKS, 0, error, **{name: 0})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (RANKS, "rank mismatch. expected 1, actual 2"),
        (DTYPES, "dtype mismatch. expected torch.float32, actual torch.float64"),
        (SIZES, "sizes of the tensors"),
        ([torch.ones(2), torch.ones(2, requires_grad=True)], "requires_grad mismatch"),
    ],
)
def test_recompiling_can_be_an_error(given, words):
    fn = torch.compile(lambda x: x * 2)
    with CONFIG.patch(error_on_recompile=True):
        fn(given[0])
        fn(given[0].detach().clone())
        with pytest.raises(ERRORS.RecompileError, match=words):
            fn(given[1])
    several = torch.compile(lambda *xs: xs[0] * 2)
    with CONFIG.patch(error_on_recompile=True):
        several(given[0])
        with pytest.raises(ERRORS.RecompileError, match="2 tensors are among"):
            several(*given[:2])
    with CONFIG.patch(error_on_recompile=True):
        dynamic = torch.compile(lambda x: x * 2, dynamic=True)
        assert [len(dynamic(x)) for x in SIZES] == [len(x) for x in SIZES]


def test_a_setting_with_two_names():
    before = CONFIG.recompile_limit
    CONFIG.cache_size_limit = 64
    assert CONFIG.recompile_limit == CONFIG.cache_size_limit == 64
    CONFIG.recompile_limit = before
    assert CONFIG.cache_size_limit == before
    with CONFIG.patch(accumulated_cache_size_limit=3):
        assert CONFIG.accumulated_recompile_limit == 3
    assert CONFIG.accumulated_cache_size_limit == 256
