"""Names that Pyro, GPyTorch, MONAI, fastai, captum and others take from PyTorch's modules, and what they do."""

import importlib
import threading
import time
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

NAMES = {
    "": "Future TensorType ScriptObject cond while_loop uint4 int2 bits8 float4_e2m1fn_x2",
    "_C._functorch": "is_batchedtensor get_unwrapped _add_batch_dim",
    "_dynamo.utils": "warn_once",
    "ao.quantization": "FakeQuantizeBase PlaceholderObserver",
    "backends.cuda": "SDPAParams can_use_flash_attention can_use_efficient_attention",
    "backends.nnpack": "set_flags",
    "cuda.amp": "common",
    "cuda.amp.common": "amp_definitely_not_available",
    "distributions.transforms": "_InverseTransform",
    "distributions.utils": "_standard_normal _sum_rightmost",
    "fx": "map_arg",
    "fx.proxy": "GraphAppendingTracer",
    "jit": "TracerWarning Error _get_trace_graph",
    "nn.init": "_no_grad_uniform_ _no_grad_normal_ _no_grad_trunc_normal_ _no_grad_fill_ _no_grad_zero_",
    "nn.modules.pooling": "_MaxUnpoolNd",
    "nn.modules.rnn": "GRUCell LSTMCell RNNCell RNNCellBase",
    "nn.utils._named_member_accessor": "swap_tensor",
    "nn.utils._per_sample_grad": "call_for_per_sample_grads",
    "optim.optimizer": "_get_value _to_scalar _view_as_real _stack_if_compiling StateDict DeviceDict "
    "_disable_dynamo_if_unsupported _get_scalar_dtype _group_tensors_by_device_and_dtype",
    "serialization": "DEFAULT_PROTOCOL FILE_LIKE FileLike MAP_LOCATION SourceChangeWarning",
    "sparse": "FloatTensor DoubleTensor HalfTensor LongTensor",
    "utils._foreach_utils": "_device_has_foreach_support _has_foreach_support",
    "utils._pytree": "is_namedtuple is_structseq_instance treespec_leaf",
    "utils.checkpoint": "get_device_states set_device_states detach_variable",
    "utils.data.dataloader": "_DatasetKind _InfiniteConstantSampler _collate_fn_t _worker_init_fn_t",
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
            "1 values",
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
    assert torch.backends.nnpack.set_flags(False) == (False,)
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
