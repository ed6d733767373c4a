"""Autocast, where it is not a matter of agreeing with PyTorch: third parties, the cache, the cost."""

import gc
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import DispatchKey, amp
from mindtorch_core.dispatch.dispatcher import dispatch, redispatch
from mindtorch_core.dispatch.keys import exclude_keys, include_keys
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.nn import functional as F
from mindtorch_core.opdefs.define import op

PAGE = Path(__file__).parents[2] / "docs" / "autocast.md"


@pytest.fixture
def weight():
    return torch.ones(2, 2, requires_grad=True)


@pytest.fixture
def x():
    return torch.ones(3, 2)


# ---- the page -----------------------------------------------------------------------------------


def test_the_page_prints_what_it_says(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)
    names = {}
    for code in blocks:
        exec(compile(code, PAGE.name, "exec"), names)
    expected = re.findall(r"print\(.*\)  # (.*)$", "".join(blocks), re.M)
    assert capsys.readouterr().out.split("\n")[:-1] == expected
    assert len(expected) == 6


# ---- the cost -----------------------------------------------------------------------------------


def test_nothing_is_loaded_before_autocast_meets_an_op():
    script = """
import sys
import mindtorch_core as torch
torch.ones(2, 2) @ torch.ones(2, 2)
with torch.autocast("cpu", enabled=False):
    torch.ones(2, 2) @ torch.ones(2, 2)
assert "mindtorch_core.amp.policies" not in sys.modules
with torch.autocast("cpu"):
    torch.ones(2, 2) @ torch.ones(2, 2)
assert "mindtorch_core.amp.policies" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)


def test_tensors_and_calls_outside_carry_no_autocast_key(x):
    table = registry.entry("neg").table
    before = set(table)
    with torch.autocast("cpu"):
        made = -x
        assert not made._keys & DispatchKey.AutocastCPU
    assert {m & DispatchKey.AutocastCPU for m in set(table) - before} <= {DispatchKey.AutocastCPU}
    table.clear()
    -x
    assert not any(m & DispatchKey.AutocastCPU for m in table)


# ---- the mode -----------------------------------------------------------------------------------


def test_one_object_can_be_entered_while_it_is_active(x, weight):
    block = torch.autocast("cpu")
    with block:
        with block:
            assert (x @ weight).dtype is torch.bfloat16
        assert (x @ weight).dtype is torch.bfloat16
    assert (x @ weight).dtype is torch.float32
    assert not torch.is_autocast_enabled("cpu")


def test_threads_share_a_decorated_function_and_not_its_state(x):
    both_inside = threading.Barrier(2, timeout=60)

    @torch.autocast("cpu")
    def work(first):
        both_inside.wait()
        if first:
            assert other_done.wait(60)
        return (x @ x.t()).dtype

    other_done, seen = threading.Event(), {}

    def run(first):
        seen[first] = [work(first), torch.is_autocast_enabled("cpu")]
        other_done.set()

    threads = [threading.Thread(target=run, args=(first,)) for first in (True, False)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == {True: [torch.bfloat16, False], False: [torch.bfloat16, False]}


def test_masks_set_by_hand_come_back(x):
    with exclude_keys(DispatchKey.AutocastCPU):
        with torch.autocast("cpu"):
            assert (x @ x.t()).dtype is torch.bfloat16
        with include_keys(DispatchKey.AutocastCPU):
            assert not torch.is_autocast_enabled("cpu")
            assert (x @ x.t()).dtype is torch.float32
    assert not torch.is_autocast_enabled("cpu")


def test_a_refused_argument_leaves_nothing_behind(x):
    for arguments in ({"enabled": 1}, {"cache_enabled": "no"}):
        with pytest.raises(TypeError, match=r"must be a bool \(got "):
            torch.autocast("cpu", **arguments)
    assert (x @ x.t()).dtype is torch.float32


def test_backward_computes_in_the_dtypes_of_the_forward_pass(x, weight):
    seen = []
    made = x @ weight
    made.register_hook(lambda g: seen.append((g.dtype, torch.is_autocast_enabled("cpu"))))
    with torch.autocast("cpu"):
        made.sum().backward()
        assert torch.is_autocast_enabled("cpu")
    assert seen == [(torch.float32, False)]
    assert weight.grad.dtype is torch.float32


def test_a_pipeline_defers_the_casts(x, weight):
    with torch.autocast("cpu"), torch.pipeline():
        made = F.relu(F.linear(x, weight))
        assert made._pending
        assert made.dtype is torch.bfloat16
        loss = F.cross_entropy(made, torch.tensor([0, 1, 0]))
    assert made.tolist() == [[2.0, 2.0]] * 3
    loss.backward()
    assert weight.grad.dtype is torch.float32


def test_inference_mode(x, weight):
    with torch.autocast("cpu"):
        with torch.inference_mode():
            assert (x @ weight).dtype is torch.bfloat16
        made = x @ weight
        assert made.requires_grad
    made.sum().backward()
    assert weight.grad.tolist() == [[3.0, 3.0]] * 2


def test_custom_functions_choose_their_precision(x):
    seen = []

    class Exact(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, t, other):
            seen.append((t.dtype, other["t"][0].dtype, torch.is_autocast_enabled("cpu")))
            return t * 2

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append((g.dtype, torch.is_autocast_enabled("cpu")))
            return g * 2, None

    class AsOutside(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu")
        def forward(ctx, t):
            seen.append((t.dtype, torch.is_autocast_enabled("cpu")))
            return t @ t.t()

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append(
                (g.dtype, torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
            )
            return (g @ g).sum() * torch.ones(3, 2)

    half = x.bfloat16().requires_grad_()
    with torch.autocast("cpu"):
        made = Exact.apply(half, {"t": [half, 1]})
    made.sum().backward()
    assert seen == [(torch.float32, torch.float32, False), (torch.float32, False)]
    seen.clear()
    Exact.apply(half, {"t": [half]}).sum().backward()
    assert seen == [(torch.bfloat16, torch.bfloat16, False), (torch.bfloat16, False)]
    seen.clear()
    x.requires_grad_()
    with torch.autocast("cpu", torch.float16):
        made = AsOutside.apply(x)
    made.sum().backward()
    assert seen == [(torch.float32, True), (torch.float16, True, torch.float16)]


# ---- the cache ----------------------------------------------------------------------------------


def test_a_weight_that_changes_is_cast_anew(x, weight):
    with torch.autocast("cpu"):
        assert (x @ weight).tolist() == [[2.0, 2.0]] * 3
        with torch.no_grad():
            weight.mul_(2)
        assert (x @ weight).tolist() == [[4.0, 4.0]] * 3
        weight.data = torch.zeros(2, 2)
        assert (x @ weight).tolist() == [[0.0, 0.0]] * 3
        weight.data = torch.ones(2, 2)
        assert (x @ weight).tolist() == [[2.0, 2.0]] * 3


def test_training_inside_one_block(x, weight):
    losses = []
    with torch.autocast("cpu"):
        for _ in range(4):
            weight.grad = None
            loss = F.mse_loss(x @ weight, torch.zeros(3, 2))
            loss.backward()
            with torch.no_grad():
                weight -= 0.25 * weight.grad
            losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 4


def test_casts_are_kept_per_dtype(x, weight):
    with torch.autocast("cpu"):
        assert (x @ weight).dtype is torch.bfloat16
        with torch.autocast("cpu", torch.float16):
            assert (x @ weight).dtype is torch.float16
        assert (x @ weight).dtype is torch.bfloat16


def test_a_cast_goes_with_its_weight_and_with_the_block(x, weight):
    conversions = count_conversions()
    with torch.autocast("cpu"), conversions as seen:
        other = torch.ones(2, 2, requires_grad=True)
        gone = weakref.ref(other)
        x @ weight + x @ other
        x @ weight + x @ other
        assert seen.count("weight") == 2
        del other
        gc.collect()
        assert gone() is None
        with torch.autocast("cpu"):
            x @ weight
        x @ weight
        assert seen.count("weight") == 2
    with torch.autocast("cpu"), count_conversions() as seen:
        x @ weight
        assert seen.count("weight") == 1


class count_conversions:
    """Notes, for each conversion on the CPU, whether it is a weight's."""

    def __enter__(self):
        entry = registry.entry("_to_dtype")
        convert = entry.kernels[DispatchKey.CPU]
        seen = []

        def noted(self, dtype):
            seen.append("weight" if tuple(self.shape) == (2, 2) else "other")
            return convert(self, dtype)

        self.handle = registry.register_kernel("_to_dtype", DispatchKey.CPU, noted, promoted=True)
        return seen

    def __exit__(self, *exc_info):
        self.handle.remove()


# ---- third parties ------------------------------------------------------------------------------


def test_a_third_partys_device(toy):
    x = torch.ones(2, device="toy")
    assert amp.is_autocast_available("toy")
    assert torch.get_autocast_dtype("toy") is torch.bfloat16
    with torch.autocast("toy"):
        assert torch.is_autocast_enabled("toy")
        assert not torch.is_autocast_enabled("cpu")
        assert (x + x).dtype is torch.float32
        assert x.bfloat16().sum().dtype is torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
    with torch.autocast("cpu"):
        assert (x + x).dtype is torch.float32
    assert torch.toy.get_amp_supported_dtype() == [torch.bfloat16, torch.float16]
    assert torch.toy.is_bf16_supported()


def test_a_runtime_says_which_dtypes_it_has(toy, monkeypatch):
    monkeypatch.setattr(toy.RUNTIME, "autocast_dtype", torch.float16)
    monkeypatch.setattr(toy.RUNTIME, "autocast_dtypes", (torch.float16,))
    assert torch.get_autocast_dtype("toy") is torch.float16
    assert torch.toy.get_amp_supported_dtype() == [torch.float16]
    assert not torch.toy.is_bf16_supported()
    with pytest.warns(
        UserWarning, match=r"In TOY autocast, but(?s:.*)bfloat16, and supported are torch.float16\."
    ):
        block = torch.autocast("toy", torch.bfloat16)
    with block:
        assert not torch.is_autocast_enabled("toy")
    x = torch.ones(2, device="toy")
    with torch.autocast("toy"), amp.set_policy("add", "toy", "lower_precision_fp"):
        assert (x + x).dtype is torch.float16
        assert (x + x.double()).dtype is torch.float64


@pytest.mark.parametrize(
    ("policy", "of_single", "of_half"),
    [
        ("lower_precision_fp", torch.bfloat16, torch.bfloat16),
        ("fp32", torch.float32, torch.float32),
        ("promote", torch.float32, torch.bfloat16),
        (torch.float16, torch.float16, torch.float16),
        (None, torch.float32, torch.bfloat16),
    ],
)
def test_the_policy_of_a_third_partys_op(toy, policy, of_single, of_half):
    def same(t):
        return t.clone()

    with registry.scope():
        registry.register_schema("acme::same", "same(Tensor t) -> Tensor")
        registry.register_kernel("acme::same", "toy", same)
        registry.register_kernel("acme::same", "cpu", same)
        x = torch.ones(2, device="toy")
        handle = amp.set_policy("acme::same", "toy", policy)
        with torch.autocast("toy"):
            assert dispatch("acme::same", None, x).dtype is of_single
            assert dispatch("acme::same", None, x.bfloat16()).dtype is of_half
            assert dispatch("acme::same", None, x.double()).dtype is torch.float64
            assert dispatch("acme::same", None, x.int()).dtype is torch.int32
            assert dispatch("acme::same", None, torch.ones(2)).dtype is torch.float32
        assert dispatch("acme::same", None, x).dtype is torch.float32
        handle.remove()
        with torch.autocast("toy"):
            assert dispatch("acme::same", None, x).dtype is torch.float32


def test_binary_cross_entropy_is_banned_off_the_cpu(toy):
    x = torch.ones(2, device="toy")
    with registry.register_kernel("binary_cross_entropy", "toy", lambda *args: args[0].sum()):
        assert dispatch("binary_cross_entropy", None, x, x).item() == 2
        with torch.autocast("toy"), pytest.raises(RuntimeError, match=r"unsafe.*_with_logits"):
            dispatch("binary_cross_entropy", None, x, x)


def test_a_banned_op_says_why(x):
    with amp.set_policy("dot", "cpu", "banned"), torch.autocast("cpu"):
        with pytest.raises(RuntimeError, match="aten::dot is unsafe to autocast"):
            torch.dot(x[0], x[0])
        with torch.autocast("cpu", enabled=False):
            assert torch.dot(x[0], x[0]).item() == 2


def test_a_built_in_policy_can_be_replaced(x):
    with torch.autocast("cpu"):
        with amp.set_policy("mm", "cpu", None):
            assert torch.mm(x, x.t()).dtype is torch.float32
        with amp.set_policy("sum", "cpu", amp.policies.Policy.FP32_SET_OPT_DTYPE):
            assert x.bfloat16().sum().dtype is torch.float32
            assert x.bfloat16().sum(dtype=torch.float64).dtype is torch.float64
            assert x.int().sum().dtype is torch.int64
        with amp.set_policy("softmax", "cpu", "fp32_set_opt_dtype"):
            assert x.bfloat16().softmax(0).dtype is torch.float32
            assert x.bfloat16().softmax(0, torch.float64).dtype is torch.float64
            assert dispatch("softmax", None, x.bfloat16(), 0).dtype is torch.float32
        with amp.set_policy("neg", "cpu", "fp32_set_opt_dtype"):  # it has no dtype to set
            assert (-x.bfloat16()).dtype is torch.float32
        assert torch.mm(x, x.t()).dtype is torch.bfloat16
        assert x.bfloat16().sum().dtype is torch.bfloat16


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("acme::nothing", "cpu", "fp32"), RuntimeError, "acme::nothing"),
        (("mm", "meta", "fp32"), RuntimeError, "'meta'"),
        (("mm", torch.device("cpu"), "fp32"), TypeError, "must be str"),
        (("mm", "cpu", "fp64"), ValueError, "'fp64'.*lower_precision_fp"),
        (("mm", "cpu", 32), TypeError, "not int"),
    ],
)
def test_policies_that_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        amp.set_policy(*arguments)


def test_autocast_sees_the_parts_of_a_third_partys_composition(x):
    def twice(t):
        return t @ t.t() * 2

    with registry.scope():
        registry.register_schema("acme::twice", "twice(Tensor t) -> Tensor")
        registry.register_kernel("acme::twice", "CompositeImplicitAutograd", twice)
        op("acme::twice_defined(Tensor t) -> Tensor", decomposition=twice, namespaces=())
        with torch.autocast("cpu"):
            assert dispatch("acme::twice", None, x).dtype is torch.bfloat16
            assert dispatch("acme::twice_defined", None, x).dtype is torch.bfloat16


def test_a_kernel_at_an_autocast_key_serves_its_own_device():
    seen = []

    def kernel(keyset, t):
        seen.append(keyset)
        return redispatch("aten::neg", keyset.remove(DispatchKey.AutocastCPU), t)

    x = torch.ones(2, requires_grad=True)
    with registry.register_kernel("neg", "AutocastCPU", kernel, with_keyset=True):
        with torch.autocast("cpu"):
            made = -x
            (-torch.ones(2, device="meta")).sum()
        (-x).sum()
    assert len(seen) == 1
    assert seen[0].highest() is DispatchKey.AutocastCPU
    assert made.grad_fn is not None
    assert made.tolist() == [-1.0, -1.0]
