"""Tensors whose memory several processes see: `share_memory_` and torch.multiprocessing."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap

import pytest

import mindtorch_core as torch
import mindtorch_core.multiprocessing as mp
from mindtorch_core.tensors import mapped

# What sends memory does so from a thread; the processes here fork all the same.
pytestmark = pytest.mark.filterwarnings("ignore:This process.*is multi-threaded")

METHODS = ["fork", "spawn", "forkserver"]
SHM = "/dev/shm"
needs_names = pytest.mark.skipif(
    "file_system" not in mp.get_all_sharing_strategies(), reason="no folder for names"
)


def names():
    """Names of shared blocks of this program."""
    if not os.path.isdir(SHM):
        return []
    return [n for n in os.listdir(SHM) if n.startswith(f"mindtorch-{os.getpid()}-")]


@pytest.fixture(params=["file_descriptor", pytest.param("file_system", marks=needs_names)])
def strategy(request):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


# ---- in one process -----------------------------------------------------------------------------


@pytest.mark.usefixtures("strategy")
def test_everything_over_the_memory_moves():
    base = torch.arange(6.0).reshape(2, 3)
    view, turned, data, bits = base[1], base.t(), base.data, base.view(torch.int32)
    further = data[0]
    assert not base.is_shared()
    assert base.share_memory_() is base
    for t in (base, view, turned, data, bits, further):
        assert t.is_shared()
        assert t.untyped_storage().is_shared()
    base[1, 2] = 50
    further[0] = -1
    assert view.tolist() == [3, 4, 50]
    assert turned.tolist() == [[-1, 3], [1, 4], [2, 50]]
    assert data.tolist() == base.tolist()
    assert bits.view(torch.float32).tolist() == base.tolist()
    assert base.data_ptr() == data.data_ptr() == view.data_ptr() - 12
    before = base.data_ptr()
    assert base.share_memory_().data_ptr() == before


def test_kinds_of_tensors():
    for t in (
        torch.empty(0), torch.tensor(3.5), torch.ones(2, 3).t(), torch.ones(4)[1::2],
        torch.ones(2, dtype=torch.bfloat16), torch.tensor([1 + 2j]).conj(), torch.ones(3).expand(2, 3),
    ):  # fmt: skip
        values, strides = t.tolist(), t.stride()
        t.share_memory_()
        assert t.is_shared()
        assert (t.tolist(), t.stride()) == (values, strides)


def test_history_goes_on():
    leaf = torch.ones(3, requires_grad=True)
    twice = leaf * 2
    product = twice * twice
    twice.share_memory_()
    leaf.share_memory_()
    product.sum().backward()
    assert leaf.grad.tolist() == [8, 8, 8]
    with torch.no_grad():
        leaf += 1
    assert leaf.is_shared()
    assert leaf.tolist() == [2, 2, 2]


def test_in_a_pipeline():
    with torch.pipeline():
        t = torch.ones(3) * 2
        t.share_memory_()
        later = t + 1
    assert t.is_shared()
    assert later.tolist() == [3, 3, 3]


def test_parameters_and_modules():
    pytest.importorskip("mindtorch_nn")
    layer = torch.nn.Linear(2, 2)
    layer.register_buffer("tied", layer.weight.detach())
    weight = layer.weight
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    assert layer.share_memory() is layer
    assert layer.weight is weight
    assert all(t.is_shared() for t in (weight, weight.data, layer.bias, layer.tied))
    weight.data.fill_(3)
    assert layer.tied.tolist() == [[3, 3], [3, 3]]
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert layer.tied.tolist() == [[2, 2], [2, 2]]


def test_devices_without_sharing(monkeypatch):
    with pytest.raises(RuntimeError, match=r"only available on CPU.*meta"):
        torch.empty(2, device="meta").share_memory_()
    assert not torch.empty(2, device="meta").is_shared()


def test_strategies():
    assert mp.get_sharing_strategy() == "file_descriptor"
    with pytest.raises(AssertionError, match="invalid sharing strategy 'x'"):
        mp.set_sharing_strategy("x")


def test_memory_that_is_short(monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mapped.os, "posix_fallocate", full, raising=False)
    t = torch.ones(3)
    with pytest.raises(torch.OutOfMemoryError, match="No space left"):
        t.share_memory_()
    assert not t.is_shared()
    assert t.tolist() == [1, 1, 1]

    def many(*args):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(mapped.os, "memfd_create", many, raising=False)
    with pytest.raises(RuntimeError, match=r"Too many open files.*ulimit -n"):
        t.share_memory_()


def test_nothing_is_left_of_memory_that_was_short(monkeypatch, strategy):
    torch.ones(2).share_memory_()  # the first one of a process opens more
    gc.collect()
    folder = "/proc/self/fd"
    before = len(os.listdir(folder)) if os.path.isdir(folder) else None

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mapped.os, "posix_fallocate", full, raising=False)
    t = torch.ones(3)
    for _ in range(3):
        with pytest.raises(torch.OutOfMemoryError):
            t.share_memory_()
    assert names() == []
    assert before is None or len(os.listdir(folder)) == before


@needs_names
def test_names_go_with_the_memory():
    mp.set_sharing_strategy("file_system")
    try:
        t = torch.ones(3).share_memory_()
    finally:
        mp.set_sharing_strategy("file_descriptor")
    assert len(names()) == 1
    assert t.untyped_storage().filename == f"{SHM}/{names()[0]}"
    part = t[1:]
    del t
    assert len(names()) == 1
    del part
    gc.collect()
    assert names() == []


def test_open_files_go_with_the_memory(strategy):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no list of open files")
    torch.ones(2).share_memory_()  # the first one of a process opens more
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    kept = [torch.ones(2).share_memory_() for _ in range(5)]
    added = len(os.listdir("/proc/self/fd")) - before
    assert added == (5 if mp.get_sharing_strategy() == "file_system" else 10)
    del kept
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- between processes --------------------------------------------------------------------------


def exchange(orders, results, given, weight):
    """Change what was given, and what comes; send it back, with more."""
    given.add_(1)
    weight.data.fill_(7)
    come = orders.get()
    come["x"][1] = 42
    results.put({"x": come["x"], "part": come["x"][1:], "own": torch.arange(3), "w": weight})
    orders.get()  # until then this process has what it sent


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("method", METHODS)
def test_queues_and_arguments(method):
    context = mp.get_context(method)
    orders, results = context.Queue(), context.Queue()
    given, x = torch.zeros(3).share_memory_(), torch.arange(4.0)
    weight = torch.ones(2, requires_grad=True).share_memory_()
    process = context.Process(target=exchange, args=(orders, results, given, weight))
    process.start()
    orders.put({"x": x})
    found = results.get(timeout=60)
    assert x.is_shared()
    assert x.tolist() == [0, 42, 2, 3]
    assert given.tolist() == [1, 1, 1]
    assert weight.tolist() == [7, 7]
    assert found["own"].tolist() == [0, 1, 2]
    assert found["w"].requires_grad
    found["part"][1] = -5  # of the same memory, there and back
    found["w"].data[0] = 8
    assert x.tolist() == found["x"].tolist() == [0, 42, -5, 3]
    assert weight.tolist() == [8, 7]
    assert found["x"].untyped_storage() is x.untyped_storage()
    orders.put(None)
    process.join(60)
    assert process.exitcode == 0
    del found, given, x, weight
    gc.collect()
    assert names() == []


def write(t, queue):
    t.fill_(5)
    queue.put(t[1:])
    queue.get()


def test_pythons_own_multiprocessing():
    """Once some memory is shared, it travels so too."""
    program = f"""
        import multiprocessing
        import mindtorch_core as torch
        from {__name__} import write

        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            t, queue = torch.zeros(3).share_memory_(), context.Queue()
            process = context.Process(target=write, args=(t, queue))
            process.start()
            part = queue.get(timeout=60)
            part[0] = 7
            queue.put(None)
            process.join()
            print(t.tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout == "[5.0, 7.0, 5.0]\n", done.stderr


def train(weight, rounds):
    for _ in range(rounds):
        weight.grad = torch.ones(2)
        optimizer = torch.optim.SGD([weight], lr=0.5)
        optimizer.step()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_processes_train_one_weight(method):
    pytest.importorskip("mindtorch_nn")
    model = torch.nn.Module()
    model.weight = torch.nn.Parameter(torch.zeros(2))
    model.share_memory()
    for _ in range(2):  # one after the other: their steps would overwrite each other's
        mp.start_processes(trained, (model,), nprocs=1, start_method=method)
    assert model.weight.tolist() == [-10, -10]


def trained(number, model):
    train(model.weight, 10)


def fill_place(number, t):
    t[number] = number + 1


def send(number, queue):
    queue.put(torch.full((2,), float(number)))
    queue.get()


def test_spawn():
    t = torch.zeros(3)
    assert mp.spawn(fill_place, (t,), nprocs=3) is None
    assert t.is_shared()
    assert t.tolist() == [1, 2, 3]
    context = mp.start_processes(fill_place, (t,), nprocs=2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join(timeout=60):
        pass
    assert context.join()


def doubled(t):
    return t * 2


def test_pools():
    with mp.get_context("fork").Pool(2) as pool:
        found = pool.map(doubled, [torch.full((2,), float(i)) for i in range(4)])
        assert [t.tolist() for t in found] == [[0, 0], [2, 2], [4, 4], [6, 6]]


def fail(number):
    if number == 1:
        raise ValueError("of process one")
    import time

    time.sleep(60)


def leave(number, how):
    os.kill(os.getpid(), how) if how > 0 else sys.exit(3)


def test_processes_that_fail():
    with pytest.raises(mp.ProcessRaisedException, match="of process one") as raised:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert raised.value.error_index == 1
    assert pickle.loads(pickle.dumps(raised.value)).msg == raised.value.msg
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as left:
        mp.start_processes(leave, (0,), nprocs=1, start_method="fork")
    assert (left.value.exit_code, left.value.signal_name) == (3, None)
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL"):
        mp.start_processes(leave, (9,), nprocs=1, start_method="fork")


def test_the_method_of_spawn():
    with pytest.warns(FutureWarning, match="whatever start_method says"):
        mp.spawn(fill_place, (torch.zeros(1),), nprocs=1, start_method="fork")


def test_what_is_not_sent():
    queue = mp.get_context("fork").SimpleQueue()
    result = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing"):
        queue.put(result)
    hooked = torch.ones(2, requires_grad=True)
    hooked.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        queue.put(hooked)
    assert queue.get().tolist() == [1, 1]


def test_what_goes_through_a_pipe():
    reader, writer = mp.get_context("fork").Pipe(duplex=False)
    sent = [
        torch.empty(0), torch.empty(2, device="meta"), torch.ones(2, 3).t(), torch.ones(3)[1:],
        torch.tensor([1 + 2j]).conj(), torch.ones(2).untyped_storage(),
    ]  # fmt: skip
    writer.send(sent)
    found = reader.recv()
    assert found[0].shape == (0,)
    assert found[1].device.type == "meta"
    assert found[2].stride() == (1, 3)
    found[3][0] = 5
    assert sent[3].tolist() == [5, 1]
    assert found[4].tolist() == [1 - 2j]
    assert found[5] is sent[5]


def test_loaders_send_batches_through_shared_memory():
    pytest.importorskip("mindtorch_nn")
    data = torch.utils.data.TensorDataset(torch.arange(32.0))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2)
    batches = [batch[0] for batch in loader]
    assert torch.cat(batches).tolist() == list(range(32))
    assert all(batch.is_shared() for batch in batches)


@pytest.mark.parametrize("strategy_name", sorted(mp.get_all_sharing_strategies()))
def test_nothing_is_left_of_a_killed_process(strategy_name):
    """The parent is killed as well: nobody is left who could tidy up, but the system."""
    if not os.path.isdir(SHM):
        pytest.skip("no folder to look into")
    program = f"""
        import os, signal
        import mindtorch_core as torch
        import mindtorch_core.multiprocessing as mp

        def work(queue):
            queue.put(torch.ones(1000))
            queue.get()
            os.kill(os.getpid(), signal.SIGKILL)

        mp.set_sharing_strategy({strategy_name!r})
        context = mp.get_context("fork")
        queue = context.Queue()
        back = context.Queue()
        t = torch.ones(1000).share_memory_()
        process = context.Process(target=work, args=(queue,))
        process.start()
        got = queue.get()
        queue.put(t)
        process.join()
        print(os.getpid(), process.pid, process.exitcode, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    parent, child, code = done.stdout.split()
    assert int(code) == -9, done.stderr
    # What tidies up outlives the program for an instant; it has the pipe of stderr until its end.
    left = [
        n for n in os.listdir(SHM) if n.startswith((f"mindtorch-{parent}-", f"mindtorch-{child}-"))
    ]
    assert left == []


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_that_are_shared_from_the_first():
    pt = pytest.importorskip("torch")
    found = []
    for lib in (torch, pt):
        x = lib.arange(6.0)
        for storage in (
            x.untyped_storage()._new_shared(24),
            x.untyped_storage()._new_shared(24, device="cpu"),
            lib.UntypedStorage._new_shared(24),
            x._typed_storage()._new_shared(6),
            x._typed_storage()._new_shared(6, device=x.device),
        ):
            out = x.new(storage).resize_(2, 3)
            lib.stack([x[:3], x[3:]], out=out)
            found.append((storage.nbytes(), storage.is_shared(), out.is_shared(), out.tolist()))
    assert found[:5] == found[5:]
    assert all(shared for _, shared, *_ in found)
