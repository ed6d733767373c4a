"""Settings and inner modules that programs for PyTorch look for, beside PyTorch's answers."""

import gc
import importlib
import math
import pickle
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ANSWERS = [
    "lib.sym_max(1, 2.0)", "lib.sym_max(3, 2.0)", "lib.sym_min(1, 2)", "lib.sym_min(1.0, 2)", "lib.sym_int(-2.5)",
    "lib.sym_float(2)", "lib.sym_not(3)", "lib.sym_not(0)", "lib.sym_ite(True, 1, 2)", "lib.sym_ite(False, 1, 2)",
    "lib.sym_sum([1, 2, 3])", "lib.set_num_interop_threads(0)", "lib.set_warn_always(3)", "lib.is_warn_always_enabled()",
    "lib.compiled_with_cxx11_abi()", "lib.is_vulkan_available()", "lib.set_default_tensor_type(3)",
    "lib.set_default_tensor_type(lib.float32)", "lib.set_default_tensor_type(lib.IntTensor)",
    "lib.set_default_tensor_type('torch.cuda.FloatTensor')", "lib.set_default_tensor_type('torch.NoTensor')",
    "[lib.is_autocast_enabled(d) for d in ('cpu', 'cuda', 'mps', 'xpu', 'hpu', 'mtia', 'ipu', 'xla', 'maia')]",
    "lib.is_autocast_enabled('meta')", "repr(lib.complex32)",
    "lib.complex32.is_complex, lib.complex32.itemsize, lib.complex32.is_floating_point",
    "repr(lib.autograd.forward_ad.unpack_dual(lib.ones(2)))", "lib._C._are_functorch_transforms_active()",
    "lib.func.vmap(lambda x: x * lib._C._are_functorch_transforms_active())(lib.ones(2)).tolist()",
    "lib.ops.aten._unsafe_view(lib.ones(2, 3), [6]).shape[0]", "lib.ops.aten._local_scalar_dense(lib.ones(1))",
    "lib.ops.aten._local_scalar_dense(lib.arange(3))", "lib.ops.aten._local_scalar_dense(lib.ones(0))",
    "lib.func.grad(lambda x: x * lib._C._are_functorch_transforms_active())(lib.ones(())).item()",
    "lib.ops.aten._sparse_addmm(lib.ones(2, 2), lib.eye(2).to_sparse(), lib.ones(2, 2)).tolist()",
    "lib._tensor_str.PRINT_OPTS.threshold",
    "lib._tensor_str._tensor_str(lib.ones(2, 2), 3)", "lib._subclasses.fake_tensor.is_fake(lib.ones(1))",
    "lib.AcceleratorError.__mro__[1]", "lib.GradScaler('cpu', enabled=False).get_scale()",
]  # fmt: skip


@pytest.mark.parametrize("program", ANSWERS)
@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type:UserWarning")
def test_an_answer(program):
    def outcome(lib):
        try:
            return eval(program, {"lib": lib})
        except (AttributeError, RuntimeError, TypeError) as error:
            return type(error)

    assert outcome(torch) == outcome(pt)


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type:UserWarning")
def test_the_default_type_by_a_class():
    try:
        torch.set_default_tensor_type(torch.DoubleTensor)
        assert torch.tensor([1.5]).dtype is torch.float64
        torch.set_default_tensor_type("torch.FloatTensor")
        assert torch.ones(1).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


NAMES = {
    "torch.autograd.function": "InplaceFunction",
    "torch.hub": "tqdm",
    "torch._VF": "lstm gru batch_norm split",
    "torch._jit_internal": "boolean_dispatch Final _overload",
    "torch._ops": "OpOverload OpOverloadPacket",
    "torch.cpu.amp": "autocast GradScaler",
    "torch.nn._reduction": "get_enum legacy_get_string",
    "torch.nn.parallel.scatter_gather": "scatter gather scatter_kwargs",
    "torch.testing._comparison": "assert_close",
    "torch.utils._device": "",
    "torch.utils._triton": "has_triton",
    "torch.utils.deterministic": "fill_uninitialized_memory",
    "torch.utils.module_tracker": "ModuleTracker",
    "torch.utils.weak": "WeakTensorKeyDictionary WeakIdKeyDictionary TensorWeakRef",
    "torch.__config__": "show parallel_info",
}


@pytest.mark.parametrize("path", NAMES)
def test_a_module(path):
    """It is there in both, with these names."""
    for root in ("torch", "mindtorch_core"):
        module = importlib.import_module(path.replace("torch", root, 1))
        for name in NAMES[path].split():
            getattr(module, name)


@pytest.mark.parametrize(
    "program",
    [
        "aten.to(x, lib.float64)",
        "aten.to.dtype(x, lib.int32)",
        "aten.to.dtype(x, lib.float32, copy=True) is x",
        "aten.to.dtype(x, lib.float32) is x",
        "aten.to.device(x, lib.device('cpu'), lib.float16)",
        "aten.to.other(x, x.double())",
        "aten.to.dtype_layout(x, dtype=lib.int8)",
        "aten._to_copy(x, dtype=lib.bfloat16)",
        "aten._to_copy.default(x, memory_format=lib.contiguous_format).stride()",
        "lib.autograd.grad(aten._to_copy(x.requires_grad_(), dtype=lib.float64).sum(), x)",
    ],
)
def test_conversions_by_the_names_of_ops(program):
    def outcome(lib):
        x = lib.arange(4.0).view(2, 2).t() * 1.5
        return repr(eval(program, {"lib": lib, "aten": lib.ops.aten, "x": x}))

    assert outcome(torch) == outcome(pt)


def test_reductions():
    here, there = (
        importlib.import_module(f"{p}.nn._reduction") for p in ("mindtorch_core", "torch")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size_average in (None, True, False):
            for reduce in (None, True, False):
                options = size_average, reduce
                assert here.legacy_get_string(*options) == there.legacy_get_string(*options)
                assert here.legacy_get_enum(*options) == there.legacy_get_enum(*options)
    with pytest.raises(ValueError, match="odd"):
        here.get_enum("odd")


def test_keys_are_kept_by_identity_and_weakly():
    from mindtorch_core.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

    a, b = torch.ones(2), torch.ones(2)
    kept = WeakTensorKeyDictionary({a: 1})
    kept[b] = 2
    assert (kept[a], kept[b], len(kept)) == (1, 2, 2)
    assert torch.ones(2) not in kept
    there = TensorWeakRef(b)
    assert there() is b
    del b
    gc.collect()
    assert list(kept.values()) == [1]
    assert there() is None
    with pytest.raises(KeyError):
        kept[torch.ones(2)]
    del kept[a]
    assert not kept


def test_flops_by_module():
    """Forward and backward, of nested modules, as PyTorch counts them."""

    def counts(lib, grad):
        counter = importlib.import_module(
            f"{'torch' if lib is pt else 'mindtorch_core'}.utils.flop_counter"
        ).FlopCounterMode(display=False)
        inner = lib.nn.Sequential(lib.nn.Linear(4, 8), lib.nn.ReLU(), lib.nn.Linear(8, 3))
        model = lib.nn.Sequential(inner, lib.nn.Conv1d(5, 2, 3))
        with counter:
            found = model(lib.ones(2, 5, 4))
            if grad:
                found.sum().backward()
        return {name: sum(each.values()) for name, each in counter.get_flop_counts().items()}

    assert counts(torch, False) == counts(pt, False)
    assert counts(torch, True) == counts(pt, True)
    assert math.isclose(counts(torch, True)["Sequential.0.2"], 3 * 2 * 10 * 8 * 3)


def test_optimizers_are_printed_with_their_groups():
    def text(lib):
        groups = [{"params": [lib.zeros(1)]}, {"params": [lib.zeros(1)], "lr": 1e-3}]
        return repr(lib.optim.Adam(groups))

    assert text(torch) == text(pt)


@pytest.mark.filterwarnings("ignore:Sparse invariant:UserWarning")  # PyTorch's
def test_a_dense_matrix_gets_a_sparse_one_in_place():
    def gradients(lib):
        values = lib.tensor([1.0, 2.0], requires_grad=True)
        sparse = lib.sparse_coo_tensor(lib.tensor([[0, 1], [1, 0]]), values, (2, 2))
        dense = lib.zeros(2, 2)
        dense += sparse
        (dense * lib.arange(4.0).view(2, 2)).sum().backward()
        return dense.tolist(), values.grad.tolist()

    assert gradients(torch) == gradients(pt)


def test_a_tracker_of_modules_knows_the_backward_pass():
    for root in ("mindtorch_core", "torch"):
        lib = importlib.import_module(root)
        seen = []
        with importlib.import_module(f"{root}.utils.module_tracker").ModuleTracker() as tracker:
            x = lib.ones(2, requires_grad=True)
            x.register_hook(lambda g, t=tracker: seen.append(t.is_bw))
            seen.append(tracker.is_bw)
            x.sum().backward()
            seen.append(tracker.is_bw)
        assert seen == [False, True, False], root


def test_futures_stay_where_they_are():
    for root in ("mindtorch_core", "torch"):
        futures = importlib.import_module(f"{root}.futures")
        with pytest.raises(RuntimeError, match="Can not pickle torch"):
            pickle.dumps(futures.Future())
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's scripts are deprecated
        with pytest.raises(RuntimeError, match="Future can't be None"):
            importlib.import_module(f"{root}.jit").wait(None)
