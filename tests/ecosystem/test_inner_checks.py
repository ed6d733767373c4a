"""Functions of PyTorch's own that libraries call: checks, sizes, versions, contexts, groups."""

import operator

import pytest
from two_libraries import agree, numbers, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome


def module(path, name, *args, **kwargs):
    """A call of a function in a module of the library."""
    return lambda lib: getattr(part(lib, path) if path else lib, name)(*args, **kwargs)


def on_tensor(name, value, *rest):
    return lambda lib: getattr(lib, name)(lib.tensor(value), *rest)


def several(*programs):
    return lambda lib: [_told(program, lib) for program in programs]


def _told(program, lib):
    found = outcome(program, lib)
    if isinstance(found, Exception):
        kind, text = said(found)
        return kind, text.partition(". (Could this")[0]  # PyTorch asks for a better text there
    return numbers(found)


# ---- checks ---------------------------------------------------------------------------------------

NAMES = ["_check", "_check_index", "_check_value", "_check_type", "_check_not_implemented"]
CHECKS = {
    "hold": several(*(module("", name, True, lambda: 1 / 0) for name in NAMES)),
    "do not hold": several(*(module("", name, False, lambda: "so it is") for name in NAMES)),
    "without a text": several(*(module("", name, False) for name in NAMES)),
    "of a number": several(*(module("", name, 1) for name in NAMES)),
    "with a text": several(*(module("", name, False, "text") for name in NAMES)),
    "with a text, and hold": several(*(module("", name, True, "text") for name in NAMES)),
    "sizes": several(*(module("", "_check_is_size", n) for n in (-1, 0, 5))),
    "sizes with a maximum": several(*(module("", "_check_is_size", n, max=5) for n in (-1, 5, 6))),
    "of tensors": several(
        on_tensor("_check_tensor_all", [True, True]),
        on_tensor("_check_tensor_all", [True, False], lambda: "not all"),
        on_tensor("_check_tensor_all", [1, 1]),
        module("", "_check_tensor_all", True),
    ),
    "assertions": several(
        module("", "_assert", True, "no"), module("", "_assert", False, "no"), on_tensor("_assert", 0, "no"),
        on_tensor("_assert", 3, "no"), on_tensor("_assert_async", 1),
    ),
    "the shape as a tensor": lambda lib: (
        lib._shape_as_tensor(lib.ones(2, 3)).tolist(), str(lib._shape_as_tensor(lib.ones(2)).dtype),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:_check_is_size:FutureWarning")
@table(CHECKS)
def test_checks(program):
    agree(program)


@pytest.mark.parametrize(
    ("words", "given"), [((), "Expected Tensor with single nonzero value"), (("own",), "own")]
)
def test_an_assertion_of_a_tensor_that_is_zero(words, given):
    """PyTorch's message differs by where it is raised: at once on the CPU."""
    with pytest.raises(RuntimeError, match=f"^{given}$"):
        mt._assert_async(mt.tensor(0), *words)


# ---- sizes ----------------------------------------------------------------------------------------

SIZES = {
    "not": several(*(module("", "sym_not", v) for v in (True, False, 0, 3))),
    "one of two": several(
        module("", "sym_ite", True, 1, 2), module("", "sym_ite", False, 1.0, 2.0),
        module("", "sym_ite", False, 1, 2),
    ),
    "larger and smaller": several(
        *(module("", name, a, b) for name in ("sym_max", "sym_min") for a, b in [(1, 2), (2, 1), (1, 2.0), (3.0, 1)])
    ),
    "sums": several(module("", "sym_sum", [1, 2, 3]), module("", "sym_sum", []), module("", "sym_sum", (1, 2.5))),
    "roots": several(*(module("", "sym_sqrt", v) for v in (4, 2.0))),
    "numbers": several(
        module("", "sym_int", 2.7), module("", "sym_int", -2.7), module("", "sym_float", 3),
        module("", "sym_float", True),
    ),
    "ranges": several(
        *(module("", "sym_constrain_range", 3, min=a, max=b) for a, b in [(1, 5), (3, 3), (None, None)])
    ),
}  # fmt: skip


@table(SIZES)
def test_sizes(program):
    agree(program)


@pytest.mark.parametrize("bad", [(True, 1, 2.0), (1, 1, 2), ("", 0, 0)])
def test_choices_that_are_refused(bad):
    for lib in (mt, pt):
        with pytest.raises(AssertionError):
            lib.sym_ite(*bad)


@pytest.mark.parametrize("function", ["sym_constrain_range", "sym_constrain_range_for_size"])
@pytest.mark.parametrize(
    ("low", "high", "fits"), [(4, None, False), (None, 2, False), (3, 3, True)]
)
def test_numbers_out_of_range(function, low, high, fits):
    play = lambda lib: getattr(lib, function)(3, min=low, max=high)  # noqa: E731
    error = outcome(play, mt)
    assert (error is None) is fits
    if not fits:
        assert said(error) == said(outcome(play, pt))


def test_a_size_is_not_below_zero():
    mt.sym_constrain_range(-3)
    mt.sym_constrain_range_for_size(0)
    with pytest.raises(RuntimeError, match="Invalid value range for -3 between"):
        mt.sym_constrain_range_for_size(-3)


# ---- versions -------------------------------------------------------------------------------------


def _versions(lib):
    version = part(lib, "torch_version").TorchVersion
    others = [
        "2.4",
        (2, 13),
        "2.13.0",
        [2, 14],
        "2.13.0rc1",
        "2.13.0.post1",
        "2.13.0a2",
        "2.13.0.dev3",
        "1",
    ]
    compared = [
        [op(version("2.13.0"), other) for other in others]
        for op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq)
    ]
    texts = [
        op(version("2.13"), "no version")
        for op in (operator.eq, operator.ne, operator.lt, operator.gt)
    ]
    return compared, texts, version("2.0") in {version("2.0")}, hash(version("1.0")) == hash("1.0")


def test_versions():
    agree(_versions)
    version = mt.torch_version.TorchVersion("2.13.0")
    assert [version != other for other in ("2.13", (2, 13), "2.14")] == [False, False, True]


# ---- functions of modules -------------------------------------------------------------------------


def _flat(lib):
    utils = part(lib, "_utils")
    given = [lib.arange(6.0).reshape(2, 3).t(), lib.ones(()), lib.zeros(0, 2)]
    flat = utils._flatten_dense_tensors(given)
    back = utils._unflatten_dense_tensors(flat, given)
    flat[0] = 9
    return flat.tolist(), [each.tolist() for each in back], [tuple(each.shape) for each in back]


def _indices(lib):
    utils, device = part(lib, "_utils"), lib.device
    ask = utils._get_device_index
    return [
        _told(lambda _: ask(device("cpu"), allow_cpu=True), lib), _told(lambda _: ask(device("cpu")), lib),
        _told(lambda _: ask(3), lib), _told(lambda _: ask("cpu", True), lib),
        _told(lambda _: ask("meta:2"), lib), utils._element_size(lib.complex64),
    ]  # fmt: skip


def _dispatched(lib):
    inner = part(lib, "_jit_internal")

    def yes(x, a=1, flag=False):
        """It holds."""
        return "yes", x

    def no(x, a=1, flag=False):
        return "no", x

    def other(x, a=1, flag=False):
        return "other", x

    def documented(x):
        """It does not."""

    inverse = inner.boolean_dispatch("flag", 2, False, other, documented, "a.module", "other")
    fn = inner.boolean_dispatch("flag", 2, False, yes, no, "a.module", "chosen")
    unset = inner.boolean_dispatch("flag", 2, True, lambda x, **o: x, other, "a.module", "chosen")
    return (
        fn(1), fn(1, flag=True), fn(1, 2, True), fn(1, 2, False), unset(3), unset(3, flag=False),
        fn.__name__, fn.__module__, fn.__doc__, inverse.__doc__,
    )  # fmt: skip


def _own_type(lib):
    class Kept(lib.Tensor):
        __slots__ = ("slot",)

    rebuild = part(lib, "_tensor")._rebuild_from_type_v2
    plain = rebuild(lib.ones, Kept, ([2],), {"note": 1})
    both = rebuild(lib.ones, Kept, ([2],), ({"note": 1}, {"slot": 2}))
    none = rebuild(lib.ones, lib.Tensor, ([2],), None)
    return (
        type(plain).__name__,
        plain.note,
        both.note,
        both.slot,
        type(none).__name__,
        none.tolist(),
    )


def _contexts(lib):
    inner, told = part(lib, "utils._contextlib"), []

    class Block(inner._DecoratorContextManager):
        def __enter__(self):
            told.append("in")

        def __exit__(self, *exc):
            told.append("out")

    @Block()
    def function(x):
        told.append(x)
        return x

    @Block()
    def steps(n):
        for each in range(n):
            told.append((yield each))  # noqa: PERF401  (a generator)

    function(3)
    found = steps(2)
    next(found)
    told.append("between")
    found.send("given")
    found.close()
    one = inner.context_decorator(Block(), lambda: told.append("one"))
    made = inner.context_decorator(lambda: Block(), lambda: told.append("made"))
    for each in (one, one, made):
        outcome(each)
    return told


def _classes_as_functions(lib):
    inner = part(lib, "utils._contextlib")
    bare = inner._DecoratorContextManager()

    class Callable:
        def __enter__(self):
            pass

        def __call__(self):
            pass

    return [
        _told(lambda _: bare.__enter__(), lib), _told(lambda _: bare.__exit__(None, None, None), lib),
        _told(lambda _: inner.context_decorator(lambda: bare, int), lib),
        _told(lambda _: inner.context_decorator(Callable(), print), lib)[0],
    ]  # fmt: skip


def _grouped(lib):
    utils = part(lib, "utils._foreach_utils")
    a, b, c = lib.ones(1), lib.ones(2, dtype=lib.float64), lib.ones(3)
    out = []
    for indices in (False, True):
        found = utils._group_tensors_by_device_and_dtype([[a, b, c], [None, c, b]], indices)
        out.append(
            {
                (str(d), str(kind)): (
                    [[t if t is None else t.tolist() for t in row] for row in rows],
                    places,
                )
                for (d, kind), (rows, places) in found.items()
            }
        )
    device = lib.device("cpu")
    out.append(
        [utils._has_foreach_support(each, device) for each in ([a, b], [a, None], [a, 3], [])]
    )
    return out, utils._device_has_foreach_support(device)


FUNCTIONS = {
    "flat": _flat,
    "indices of devices": _indices,
    "one of two functions": _dispatched,
    "tensors of a class": _own_type,
    "contexts": _contexts,
    "what no context can be": _classes_as_functions,
    "groups": _grouped,
    "a class that wraps": lambda lib: said(outcome(lib.set_deterministic_debug_mode, 1.5)),
    "modes that there are": lambda lib: [
        (lib.set_deterministic_debug_mode(m), lib.get_deterministic_debug_mode())[1]
        for m in ("warn", "error", 1, 2, "default", 0)
    ],
    "no mode": lambda lib: [
        said(outcome(lib.set_deterministic_debug_mode, m)) for m in (3, -1, "loud")
    ],
    "no threads": lambda lib: said(outcome(lib.set_num_interop_threads, 0)),
}


@table(FUNCTIONS)
def test_functions_of_modules(program):
    agree(program)


@pytest.mark.parametrize("lists", [[], [[1], []], [[None], [1]]])
def test_groups_of_nothing(lists):
    group = part(mt, "utils._foreach_utils")._group_tensors_by_device_and_dtype
    given = [[mt.ones(n) if n else None for n in row] for row in lists]
    with pytest.raises(RuntimeError, match="list"):
        group(given)


def test_threads_between_ops_are_remembered():
    before = mt.get_num_interop_threads()
    try:
        mt.set_num_interop_threads(before + 3)
        assert mt.get_num_interop_threads() == before + 3
        with pytest.raises(RuntimeError, match="expects a positive integer"):
            mt.set_num_interop_threads(-1)
        assert mt.get_num_interop_threads() == before + 3
    finally:
        mt.set_num_interop_threads(before)
    assert not mt.set_flush_denormal(False)


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
@pytest.mark.parametrize("kind", [3, "torch.cuda.FloatTensor", "nn.Linear", "a word"])
def test_default_types_that_are_none(kind):
    def play(lib):
        given = lib.nn.Linear if kind == "nn.Linear" else kind
        error = said(outcome(lib.set_default_tensor_type, given))
        return error[0], error[1].split(" available")[0], str(lib.get_default_dtype())

    if kind == "a word":
        assert play(mt)[0] == "AttributeError"
    else:
        agree(play)
