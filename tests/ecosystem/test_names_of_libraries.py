"""Names that Pyro, GPyTorch, MONAI, fastai, captum and others take from PyTorch's modules, and what they do."""

import importlib
import io
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections import OrderedDict

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

NAMES = {
    "": "_int_mm _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo StorageBase Future TensorType ScriptObject cond while_loop uint4 int2 bits8 float4_e2m1fn_x2 _convolution DeviceObjType",
    "_C": "Generator ScriptMethod _get_accelerator _is_tracing",
    "_C._functorch": "is_batchedtensor get_unwrapped _add_batch_dim",
    "_dynamo.utils": "warn_once",
    "_functorch.vmap": "_add_batch_dim _maybe_remove_batch_dim _process_batched_inputs tree_flatten",
    "_guards": "active_fake_mode detect_fake_mode",
    "_higher_order_ops.out_dtype": "out_dtype",
    "_inductor.decomposition": "register_decomposition",
    "_library.infer_schema": "infer_schema",
    "_prims_common": "suggest_memory_format",
    "ao.quantization": "FakeQuantizeBase PlaceholderObserver",
    "backends.cuda": "SDPAParams can_use_flash_attention can_use_efficient_attention",
    "backends.nnpack": "set_flags",
    "amp.autocast_mode": "_cast",
    "cuda.amp": "common",
    "cuda.amp.autocast_mode": "_cast",
    "cuda.amp.common": "amp_definitely_not_available",
    "_tensor_str": "_Formatter",
    "cuda": "_lazy_call",
    "cuda.nvtx": "mark range range_end range_pop range_push range_start",
    "distributions.transforms": "_InverseTransform _clipped_sigmoid",
    "distributions.utils": "_standard_normal _sum_rightmost",
    "fx": "map_arg",
    "fx.proxy": "GraphAppendingTracer",
    "jit": "TracerWarning Error _get_trace_graph script_method",
    "nn.init": "_no_grad_uniform_ _no_grad_normal_ _no_grad_trunc_normal_ _no_grad_fill_ _no_grad_zero_",
    "nn.modules.module": "_global_parameter_registration_hooks _global_forward_hooks "
    "_global_backward_hooks _global_forward_pre_hooks _global_module_registration_hooks",
    "nn.modules.pooling": "_MaxUnpoolNd",
    "nn.modules.rnn": "GRUCell LSTMCell RNNCell RNNCellBase",
    "nn.utils._named_member_accessor": "swap_tensor",
    "nn.utils._per_sample_grad": "call_for_per_sample_grads",
    "optim.optimizer": "_get_value _to_scalar _view_as_real _stack_if_compiling StateDict DeviceDict "
    "_disable_dynamo_if_unsupported _get_scalar_dtype _group_tensors_by_device_and_dtype",
    "serialization": "DEFAULT_PROTOCOL FILE_LIKE FileLike MAP_LOCATION SourceChangeWarning",
    "sparse": "FloatTensor DoubleTensor HalfTensor LongTensor",
    "sparse._triton_ops_meta": "get_meta minimize update",
    "utils._contextlib": "_DecoratorContextManager _NoParamDecoratorContextManager context_decorator",
    "utils._foreach_utils": "_device_has_foreach_support _has_foreach_support",
    "utils._pytree": "is_namedtuple is_structseq_instance PyTreeSpec treespec_leaf",
    "utils.checkpoint": "get_device_states set_device_states detach_variable",
    "utils.data.dataloader": "_DatasetKind _InfiniteConstantSampler _collate_fn_t _worker_init_fn_t",
    "utils.data._utils.worker": "_generate_state",
    "utils.data._utils.collate": "np_str_obj_array_pattern",
}


@pytest.mark.parametrize("path", NAMES)
def test_names_that_pytorch_has(path):
    for lib, root in ((torch, "mindtorch_core"), (pt, "torch")):
        module = importlib.import_module(f"{root}.{path}".rstrip("."))
        if path == "serialization" and lib is pt:
            continue  # FILE_LIKE was there until 2.7
        for name in NAMES[path].split():
            assert hasattr(module, name), f"{root}.{path}.{name}"


def grouped(lib):
    lists = [
        [lib.ones(2), lib.ones(1, dtype=lib.double), lib.zeros(3)],
        [lib.ones(2), None, None],
    ]
    function = importlib.import_module(f"{lib.__name__}.utils._foreach_utils")
    found = function._group_tensors_by_device_and_dtype(lists, with_indices=True)
    return {
        (str(on), str(kind)): (
            [[t if t is None else t.tolist() for t in ts] for ts in each],
            places,
        )
        for (on, kind), (each, places) in found.items()
    }


def test_tensors_in_groups():
    assert grouped(torch) == grouped(pt)
    own = torch.optim.Optimizer._group_tensors_by_device_and_dtype([[torch.ones(1)]])
    assert list(own.values()) == [([[torch.ones(1)]], [])]
    with pytest.raises(RuntimeError, match="same length"):
        torch.utils._foreach_utils._group_tensors_by_device_and_dtype([[torch.ones(1)], []])


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_a_future(lib):
    future = lib.futures.Future()
    seen = []
    future.add_done_callback(lambda f: seen.append(f.value()))
    following = future.then(lambda f: f.wait() + 1)
    threading.Thread(target=lambda: (time.sleep(0.01), future.set_result(3))).start()
    assert (future.wait(), following.wait(), future.done(), future.value()) == (3, 4, True, 3)
    assert lib.futures.wait_all([future, following]) == [3, 4]
    assert [f.value() for f in lib.futures.collect_all([future]).wait()] == [3]
    assert seen == [3]
    with pytest.raises(RuntimeError, match="only be marked completed once"):
        future.set_result(4)
    failed = lib.futures.Future()
    with pytest.raises(RuntimeError):
        failed.value()
    failed.set_exception(ValueError("why"))
    with pytest.raises(ValueError, match="why"):
        failed.wait()
    with pytest.raises(RuntimeError, match="when running the callback: ValueError: why"):
        failed.then(lambda f: f.wait()).wait()
    with pytest.raises(ValueError, match="why"):
        lib.futures.wait_all([future, failed])
    assert isinstance(future, torch.Future if lib is torch else pt.Future)


def test_control_flow_of_tensors():
    x = torch.ones(2, requires_grad=True)
    made = torch.cond(x.sum() > 1, lambda x: x * 3, lambda x: x - 1, (x,))
    made.sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert torch.cond(False, lambda: 1, lambda: 2) == 2
    count, total = torch.while_loop(
        lambda i, s: i < 4, lambda i, s: (i + 1, s + i), (torch.tensor(0), torch.tensor(0))
    )
    assert (count.item(), total.item()) == (4, 6)
    for call, match in (
        (lambda: torch.cond(torch.ones(2), abs, abs, (x,)), "single-element"),
        (lambda: torch.cond(True, 3, abs, (x,)), "callable"),
        (lambda: torch.cond(True, abs, abs, x), "operands"),
        (
            lambda: torch.while_loop(lambda i: i < 1, lambda i: (i, i), (torch.tensor(0),)),
            "aliasing",
        ),
        (lambda: torch.while_loop(lambda i: i < 1, lambda i: i, torch.tensor(0)), "tuple or list"),
    ):
        with pytest.raises(RuntimeError, match=match):
            call()


def test_dtypes_of_few_bits_are_names():
    for name in ("uint1", "uint7", "int1", "int7", "bits8", "bits16", "float4_e2m1fn_x2"):
        ours, theirs = getattr(torch, name), getattr(pt, name)
        assert repr(ours) == repr(theirs)
        for of in ("itemsize", "is_floating_point", "is_complex"):
            assert getattr(ours, of) == getattr(theirs, of), (name, of)
    assert (torch.int4.is_signed, torch.uint4.is_signed) == (True, False)
    with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
        torch.zeros(2, dtype=torch.uint4)


def test_tuples_with_names():
    from collections import namedtuple

    pair = namedtuple("pair", "a b")
    for name in ("is_namedtuple", "is_structseq"):
        for suffix in ("", "_instance", "_class"):
            for value in (pair(1, 2), pair, time.localtime(), time.struct_time, (1, 2), tuple, 3):
                ours, theirs = (
                    getattr(importlib.import_module(f"{lib}.utils._pytree"), name + suffix)(value)
                    for lib in ("mindtorch_core", "torch")
                )
                assert ours == theirs, (name + suffix, value)


def test_sparse_tensors_by_their_classes():
    made = torch.sparse.FloatTensor(
        torch.tensor([[0, 1], [1, 0]]), torch.tensor([2.0, 3.0]), (2, 2)
    )
    assert made.to_dense().tolist() == [[0, 2], [3, 0]]
    assert isinstance(made, torch.sparse.FloatTensor)
    assert not isinstance(made, torch.sparse.DoubleTensor)
    assert not isinstance(torch.ones(2), torch.sparse.FloatTensor)
    assert torch.sparse.DoubleTensor(2, 3).to_dense().tolist() == [[0] * 3] * 2
    with pytest.raises(TypeError, match="sparse_coo_tensor"):
        torch.sparse.FloatTensor("x")


def test_a_loader_of_another_package():
    """FastAI gives the passes of loaders a loader of its own, with PyTorch's names."""
    from mindtorch_core.utils.data import dataloader

    class Own:
        dataset, generator, pin_memory_device = range(3), None, ""
        pin_memory = drop_last = _auto_collation = persistent_workers = False
        _IterableDataset_len_called = multiprocessing_context = worker_init_fn = None
        num_workers, prefetch_factor, timeout, in_order = 0, 2, 0, True
        _dataset_kind = dataloader._DatasetKind.Iterable
        _index_sampler = range(100)

        @staticmethod
        def collate_fn(x):
            return x

    assert list(dataloader._SingleProcessDataLoaderIter(Own())) == [0, 1, 2]
    Own.num_workers = 1
    assert list(dataloader._MultiProcessingDataLoaderIter(Own())) == [0, 1, 2]
    assert torch.utils.data.DataLoader([1])._dataset_kind == dataloader._DatasetKind.Map


def test_divergences_of_classes_that_derive_from_another_base():
    class Other:
        pass

    kl = importlib.import_module("mindtorch_core.distributions.kl")
    assert kl.register_kl(Other, torch.distributions.Normal)(len) is len
    with pytest.raises(TypeError):
        kl.register_kl(3, Other)


def test_small_answers():
    assert torch.cuda.amp.common.amp_definitely_not_available() is True
    assert torch.backends.nnpack.set_flags(False) == (True,)
    assert torch.utils.checkpoint.get_device_states(torch.ones(1), [torch.ones(1)]) == ([], [])
    x = torch.ones(1, requires_grad=True)
    y, n = torch.utils.checkpoint.detach_variable((x * 2, 3))
    assert (y.is_leaf, y.requires_grad, n) == (True, True, 3)
    with pytest.raises(NotImplementedError, match="vmap"):
        importlib.import_module(
            "mindtorch_core.nn.utils._per_sample_grad"
        ).call_for_per_sample_grads()
    real = [torch.ones(2, dtype=torch.complex64)]
    importlib.import_module("mindtorch_core.optim.optimizer")._view_as_real(real)
    assert real[0].shape == (2, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            torch._dynamo.utils.warn_once("only once, from a test")
    assert len(caught) == 1


LIBRARIES = pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])


def text_of(call):
    with pytest.raises((ValueError, RuntimeError, AssertionError)) as caught:
        call()
    return type(caught.value), str(caught.value).splitlines()[0]


def test_an_op_of_wider_arguments():
    def run(lib):
        out_dtype = importlib.import_module(f"{lib.__name__}._higher_order_ops.out_dtype").out_dtype
        aten = lib.ops.aten
        a = (lib.arange(12).reshape(3, 4) * 19 - 100).to(lib.int8)
        made = [
            out_dtype(aten.mm.default, lib.int32, a, a.T),
            out_dtype(aten.mul.Tensor, lib.float64, a, 2.5),
            out_dtype(aten.mul.Tensor, lib.int32, a, 3),
            out_dtype(aten.div.Tensor, lib.float32, a, a + 1),
        ]
        floats = a.float().requires_grad_()
        errors = [
            text_of(lambda: out_dtype(lib.mm, lib.int32, a, a.T)),
            text_of(lambda: out_dtype(aten.add_.Tensor, lib.int32, a, a)),
            text_of(lambda: out_dtype(aten.sin.default, lib.int32, a)),
        ]
        with pytest.raises(RuntimeError, match="Autograd not implemented for out_dtype"):
            out_dtype(aten.mm.default, lib.float32, floats, floats.T).sum().backward()
        return [(str(each.dtype), each.tolist()) for each in made], errors

    assert run(torch) == run(pt)


def test_the_order_of_elements():
    def run(lib):
        suggest = importlib.import_module(f"{lib.__name__}._prims_common").suggest_memory_format
        x = lib.ones(2, 3, 4, 5)
        each = [
            x,
            x.to(memory_format=lib.channels_last),
            x.permute(0, 2, 3, 1),
            x[:, :1],
            x[0],
            x[..., ::2],
        ]
        each += [
            lib.ones(1, 2, 3, 4, 5).to(memory_format=lib.channels_last_3d),
            lib.ones(0, 1, 2, 3),
        ]
        return [str(suggest(t)) for t in each]

    assert run(torch) == run(pt)


def test_seeds_of_workers():
    def run(lib):
        worker = importlib.import_module(f"{lib.__name__}.utils.data._utils.worker")
        return [
            [int(n) for n in worker._generate_state(seed, worker_id)]
            for seed in (0, 7, 2**40 + 3, 2**63 - 1)
            for worker_id in (0, 1, 12)
        ]

    assert run(torch) == run(pt)


@LIBRARIES
def test_contexts_that_decorate(lib):
    contextlib = importlib.import_module(f"{lib.__name__}.utils._contextlib")
    seen = []

    class Noted(contextlib._DecoratorContextManager):
        def __enter__(self):
            seen.append("in")

        def __exit__(self, *error):
            seen.append("out")

    class Bare(Noted, contextlib._NoParamDecoratorContextManager):
        pass

    @Noted()
    def plain(x):
        """Doc."""
        return x + 1

    @Noted()
    def steps(n):
        for i in range(n):
            got = yield i
            seen.append(got)

    @Bare
    def bare():
        return 5

    assert (plain(1), plain.__doc__, bare()) == (2, "Doc.", 5)
    assert seen == ["in", "out"] * 2
    seen.clear()
    generator = steps(2)
    assert (next(generator), generator.send("a")) == (0, 1)
    assert seen == ["in", "out", "in", "a", "out"]
    with pytest.raises(RuntimeError, match="Cannot decorate classes; it is ambiguous"):
        contextlib.context_decorator(lambda: Noted(), Noted)
    with pytest.raises(AssertionError, match="is both callable and also a valid context manager"):
        contextlib.context_decorator(Noted(), plain)
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        made = Noted()(dict)
    assert made(a=1) == {"a": 1}


@LIBRARIES
def test_settings_that_are_frozen(lib):
    backends = lib.backends
    allow = getattr(backends, "__allow_nonbracketed_mutation")
    before = backends.flags_frozen()  # PyTorch's own samples freeze its settings
    with allow():
        assert not backends.flags_frozen()
    assert backends.flags_frozen() == before


@LIBRARIES
def test_hooks_of_all_modules_by_their_inner_names(lib):
    module = importlib.import_module(f"{lib.__name__}.nn.modules.module")
    before = dict(module._global_parameter_registration_hooks)
    handle = module.register_module_parameter_registration_hook(lambda *_: None)
    assert set(module._global_parameter_registration_hooks) - set(before) == {handle.id}
    handle.remove()
    handle = module.register_module_forward_hook(lambda *_: None)
    assert handle.id in module._global_forward_hooks
    handle.remove()
    assert not module._global_forward_hooks


@LIBRARIES
def test_an_optimizer_around_another(lib):
    """Optimizers that do not call `Optimizer.__init__` make their hooks by themselves."""
    weight = lib.nn.Parameter(lib.ones(2))
    calls = []

    class Around(lib.optim.Optimizer):
        def __init__(self, inner):
            self._optimizer_step_pre_hooks = OrderedDict()
            self._optimizer_step_post_hooks = OrderedDict()
            self.inner = inner
            self.defaults = inner.defaults
            self.state, self.param_groups = inner.state, inner.param_groups
            self._patch_step_function()

        def step(self, closure=None):
            calls.append("step")
            return self.inner.step(closure)

    outer = Around(lib.optim.SGD([weight], lr=0.5))
    outer.register_step_post_hook(lambda *_: calls.append("after"))
    weight.sum().backward()
    outer.step()
    assert calls == ["step", "after"]
    assert weight.tolist() == [0.5, 0.5]


def test_parts_of_lists_and_tuples():
    def run(lib):
        tree = importlib.import_module(f"{lib.__name__}.utils._pytree")
        found = [tree._list_flatten([1, 2]), tree._tuple_flatten((3,))]
        found += [tree._list_unflatten([1, 2], None), tree._tuple_unflatten([3], None)]
        pairs = [tree._list_flatten_with_keys([5])[0], tree._tuple_flatten_with_keys((6,))[0]]
        return found, [(str(key), child) for [(key, child)] in pairs]

    assert run(torch) == run(pt)


@pytest.mark.parametrize(
    "path",
    [
        *("relu", "tanh", "einsum", "sum", "randn", "linalg.inv", "fft.fft", "special.expit"),
        *(
            f"nn.functional.{name}"
            for name in ("relu", "gelu", "linear", "pad", "mse_loss", "dropout")
        ),
    ],
)
def test_functions_in_pickles(path):
    """Modules keep functions, as `nn.TransformerEncoderLayer` does: workers and files get them by name."""
    function = torch
    for name in path.split("."):
        function = getattr(function, name)
    assert pickle.loads(pickle.dumps(function)) is function
    file = io.BytesIO()
    torch.save(function, file)
    file.seek(0)
    assert torch.load(file, weights_only=False) is function
    file.seek(0)
    wanted = pt
    for name in path.split("."):
        wanted = getattr(wanted, name)
    assert pt.load(file, weights_only=False) is wanted


def test_cpu_amp_is_there_after_import_torch():
    text = "import mindtorch_core as torch\nwith torch.cpu.amp.autocast():\n    print(torch.is_autocast_enabled('cpu'))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_casts_of_nested_values():
    def found(lib):
        cast = importlib.import_module(f"{lib.__name__}.amp.autocast_mode")._cast
        x = lib.ones(2)
        made = cast({"a": [x, x.double()], "b": (v for v in (x, "c"))}, "cpu", lib.bfloat16)
        rest = list(made["b"])
        return [str(t.dtype) for t in (*made["a"], rest[0])], rest[1]

    assert found(torch) == found(pt)


def test_no_accelerator_is_the_cpu():
    assert torch._C._get_accelerator() == (
        torch.accelerator.current_accelerator() or torch.device("cpu")
    )


def test_a_device_without_autocast_says_so():
    from mindtorch_core.plugins import DeviceModule
    from mindtorch_core.values.devices import row_of

    assert DeviceModule(row_of("cpu").runtime).amp is torch.cpu.amp
    with pytest.raises(AttributeError, match=r"torch\.meta has no autocast, so it has no amp"):
        _ = DeviceModule(row_of("meta").runtime).amp


@pytest.mark.parametrize("library", [torch, pt], ids=["ours", "PyTorch"])
@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp:FutureWarning")
def test_casts_of_functions_of_ones_own_under_cudas_name(library):
    amp = library.cuda.amp

    class Twice(library.autograd.Function):
        @staticmethod
        @amp.custom_fwd
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @amp.custom_bwd
        def backward(ctx, g):
            return g * 2

    class Lower(Twice):
        forward = staticmethod(amp.custom_fwd(cast_inputs=library.float16)(lambda ctx, x: x * 3))

    x = library.ones(2, requires_grad=True)
    for function, times in ((Twice, 2), (Lower, 3)):
        y = function.apply(x)
        assert y.tolist() == [times, times]
        assert y.dtype is library.float32  # no autocast is on
        (g,) = library.autograd.grad(y.sum(), x)
        assert g.tolist() == [2, 2]
