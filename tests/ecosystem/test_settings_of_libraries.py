"""Settings of libraries that are not there: what is set is remembered, blocks give it back."""

import pytest
from two_libraries import agree, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

ATTENTION = ("flash", "math", "mem_efficient", "cudnn")


def cuda(lib):
    return part(lib, "backends.cuda")


def attention(lib):
    return [getattr(cuda(lib), f"{name}_sdp_enabled")() for name in ATTENTION]


@pytest.fixture(autouse=True)
def _given_back():
    """Settings of attention are as before after each test, in both libraries."""
    before = [(lib, attention(lib)) for lib in (mt, pt)]
    yield
    for lib, values in before:
        for name, value in zip(ATTENTION, values, strict=True):
            getattr(cuda(lib), f"enable_{name}_sdp")(value)


def _one_after_the_other(lib):
    told = [attention(lib)]
    for name in ATTENTION:
        getattr(cuda(lib), f"enable_{name}_sdp")(False)
        told.append(attention(lib))
    return told


def _in_a_block(lib):
    told = []
    cuda(lib).enable_math_sdp(False)
    try:
        with cuda(lib).sdp_kernel(enable_flash=False, enable_cudnn=False):
            told.append(attention(lib))
            raise ZeroDivisionError
    except ZeroDivisionError:
        told.append(attention(lib))
    return told


def _what_attention_may_use(lib):
    q = lib.ones(1, 2, 3, 4)
    params = cuda(lib).SDPAParams(q, q, q, None, 0.25, True, False)
    return (
        params.query is q or params.query.shape == q.shape, params.attn_mask, params.dropout, params.is_causal,
        params.enable_gqa, cuda(lib).can_use_flash_attention(params),
        cuda(lib).can_use_efficient_attention(params), cuda(lib).can_use_cudnn_attention(params),
        cuda(lib).is_built(), cuda(lib).is_flash_attention_available(), cuda(lib).is_ck_sdpa_available(),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*sdp_kernel:FutureWarning")
@table(
    {
        "one after the other": _one_after_the_other,
        "in a block": _in_a_block,
        "asked": _what_attention_may_use,
    }
)
def test_settings_of_attention(program):
    agree(program)


def test_the_old_block_of_attention_is_deprecated():
    for lib in (mt, pt):
        with pytest.warns(FutureWarning, match="sdp_kernel.* is deprecated"):
            cuda(lib).sdp_kernel()


def test_libraries_to_prefer():
    for name in ("preferred_linalg_library", "preferred_blas_library"):
        assert getattr(cuda(mt), name)() == getattr(cuda(mt), name)("magma") == "default"


FLAGS = [
    ("cudnn", {"enabled": False, "benchmark": True, "benchmark_limit": 3, "deterministic": True, "allow_tf32": False}),
    ("mkldnn", {"enabled": False}),
    ("miopen", {"immediate": True}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), FLAGS, ids=[name for name, _ in FLAGS])
def test_settings_stay_and_go(name, values):
    """`set_flags` gives what was before; a block gives it back, however it ends."""
    place = part(mt, f"backends.{name}")
    first = next(iter(values))

    def now():
        return {each: getattr(place, each) for each in values if hasattr(place, each)}

    start = now()
    before = place.set_flags(values[first])
    try:
        assert before[0] == start[first]
        assert now() == {**start, first: values[first]}
        assert place.set_flags(None)[0] == values[first]
        assert now()[first] == values[first]
    finally:
        place.set_flags(start[first])
    assert now() == start
    with pytest.raises(ZeroDivisionError), place.flags(**values):  # noqa: PT012
        assert now() == values
        raise ZeroDivisionError
    assert now() == start


def test_what_set_flags_of_cudnn_gives():
    place = part(mt, "backends.cudnn")
    theirs = part(pt, "backends.cudnn").set_flags()
    ours = place.set_flags()
    assert (ours[:2], ours[3:5]) == (theirs[:2], theirs[3:5])  # PyTorch has no limit without cuDNN
    given = (False, True, 5, True, False)
    start = place.set_flags(*given)
    try:
        now = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
        assert tuple(getattr(place, name) for name in now) == given
    finally:
        place.set_flags(*start)
    assert place.set_flags() == start


LACKING = [
    ("cudnn", "is_available"), ("cudnn", "version"), ("mkldnn", "is_acl_available"), ("mps", "is_built"),
    ("mps", "is_available"), ("cuda", "is_built"), ("cusparselt", "is_available"), ("cusparselt", "version"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "name"), LACKING, ids=".".join)
def test_what_is_not_there_here_nor_in_pytorch_of_the_cpu(place, name):
    agree(lambda lib: getattr(part(lib, f"backends.{place}"), name)())


@pytest.mark.parametrize("name", ["mkl", "mkldnn", "openmp", "opt_einsum", "nnpack"])
def test_what_is_not_there_though_pytorch_has_it(name):
    place = part(mt, f"backends.{name}")
    assert not place.is_available()


def test_no_tensor_is_acceptable_to_cudnn():
    agree(lambda lib: part(lib, "backends.cudnn").is_acceptable(lib.ones(2)))


def test_settings_are_shown():
    settings = type(cuda(mt).matmul)(a=1, b="two")
    assert repr(settings) == "Settings(a=1, b='two')"
    settings.a = 3
    assert repr(settings).startswith("Settings(a=3")


def test_settings_are_frozen_until_a_block_allows_changes():
    backends = part(mt, "backends")
    assert not backends.flags_frozen()
    backends.disable_global_flags()
    try:
        assert backends.flags_frozen()
        with pytest.raises(ZeroDivisionError), vars(backends)["__allow_nonbracketed_mutation"]():  # noqa: PT012
            assert not backends.flags_frozen()
            raise ZeroDivisionError
        assert backends.flags_frozen()
    finally:
        backends._frozen = False
    assert said(outcome(lambda: backends.nothing))[0] == "AttributeError"


def test_the_processor():
    assert part(mt, "backends.cpu").get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
