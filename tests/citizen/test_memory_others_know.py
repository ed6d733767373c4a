"""Memory that NumPy or another library has as well is never replaced: as in PyTorch."""

import io
import pickle

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_same_outcome

pt = pytest.importorskip("torch")

# How a tensor and its array come about. The array must live as long as the tensor does.
SHOWN = {
    "numpy": lambda lib, x: x.numpy(),
    "no longer": lambda lib, x: x.numpy().size,
    "forced": lambda lib, x: x.numpy(force=True),
    "a view": lambda lib, x: x[1:].numpy(),
    "data": lambda lib, x: x.data.numpy(),
    "detached": lambda lib, x: x.detach().numpy(),
    "asarray": lambda lib, x: np.asarray(x),
    "a function of NumPy": lambda lib, x: np.sum(x.numpy()),
    "tolist": lambda lib, x: x.tolist(),
    "a copy": lambda lib, x: x.clone().numpy(),
    "dlpack": lambda lib, x: np.from_dlpack(x),
}
MADE = {
    "from_numpy": lambda lib: lib.from_numpy(np.arange(4.0, dtype="float32")),
    "as_tensor": lambda lib: lib.as_tensor(np.arange(4.0, dtype="float32")),
    "asarray": lambda lib: lib.asarray(np.arange(4.0, dtype="float32")),
    "tensor": lambda lib: lib.tensor(np.arange(4.0, dtype="float32")),
    "from_dlpack": lambda lib: lib.from_dlpack(np.arange(4.0, dtype="float32")),
    "frombuffer": lambda lib: lib.frombuffer(bytearray(16), dtype=lib.float32),
    "a copy": lambda lib: lib.from_numpy(np.arange(4.0, dtype="float32")).clone(),
    "a view": lambda lib: lib.from_numpy(np.arange(4.0, dtype="float32"))[:],
    "nothing": lambda lib: lib.from_numpy(np.empty(0, dtype="float32")),
}
GROWS = {
    "resize_": lambda lib, x: x.resize_(100).shape,
    "in two dimensions": lambda lib, x: x.resize_(3, 2).shape,
    "to what fits": lambda lib, x: x.resize_(2).tolist(),
    "resize_as_": lambda lib, x: x.resize_as_(lib.ones(50)).shape,
    "a view": lambda lib, x: x[:1].resize_(100).shape,
    "data": lambda lib, x: x.data.resize_(100).shape,
    "storage": lambda lib, x: x.untyped_storage().resize_(1000).nbytes(),
    "storage shrinks": lambda lib, x: x.untyped_storage().resize_(4).nbytes(),
    "resizable": lambda lib, x: x.untyped_storage().resizable(),
    "an output": lambda lib, x: lib.add(lib.ones(100), 1, out=x.resize_(0)).shape,
    "other memory": lambda lib, x: x.set_(lib.ones(100)).resize_(200).shape,
    "other data": lambda lib, x: set_data(x, lib.ones(3)).resize_(9).shape,
}


def set_data(x, value):
    x.data = value
    return x


@pytest.mark.parametrize("grows", GROWS.values(), ids=GROWS)
@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_of_a_tensor_that_was_shown(shown, grows):
    def call(lib):
        x = lib.arange(4.0)
        array = shown(lib, x)
        return grows(lib, x), array is None

    assert_same_outcome(lambda: call(torch), lambda: call(pt))


@pytest.mark.parametrize("grows", GROWS.values(), ids=GROWS)
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_of_a_tensor_over_others_memory(made, grows):
    assert_same_outcome(lambda: grows(torch, made(torch)), lambda: grows(pt, made(pt)))


@pytest.mark.parametrize("whole", [False, True], ids=["at once", "pipeline"])
def test_what_is_written_arrives(whole):
    """The array is the tensor's memory for good, whatever was tried."""
    x = torch.arange(4.0)
    array = x.numpy()
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(9)
    if whole:
        with torch.pipeline():
            x.add_(1)
            with pytest.raises(RuntimeError, match="not resizable"):
                x.resize_(9)
    else:
        x.add_(1)
    assert array.tolist() == x.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_what_is_made_of_it_has_memory_of_its_own():
    x = torch.arange(4.0)
    x.numpy()
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    for copy in (torch.load(file), pickle.loads(pickle.dumps(x)), x + 0, x.to(torch.float64)):
        assert copy.resize_(9).shape == (9,)
