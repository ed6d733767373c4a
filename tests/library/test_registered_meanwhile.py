"""A kernel that is registered while another one runs for the first time serves the calls after it."""

import threading

import pytest

import mindtorch_core as torch

pytestmark = pytest.mark.filterwarnings("ignore:Overriding a previously registered kernel")


@pytest.fixture
def defined():
    with torch.library._scoped_library("meanwhile", "DEF") as lib:
        lib.define("shifted(Tensor x) -> Tensor")
        yield lib


def test_by_the_kernel_itself(defined):
    def first(x):
        defined.impl("shifted", lambda x: x + 2, "CPU")
        return x + 1

    defined.impl("shifted", first, "CPU")
    x = torch.zeros(1)
    assert [torch.ops.meanwhile.shifted(x).item() for _ in range(2)] == [1, 2]


def test_by_another_thread(defined):
    begun, registered = threading.Event(), threading.Event()

    def first(x):
        begun.set()
        assert registered.wait(60)
        return x + 1

    def meanwhile():
        assert begun.wait(60)
        defined.impl("shifted", lambda x: x + 2, "CPU")
        registered.set()

    defined.impl("shifted", first, "CPU")
    other = threading.Thread(target=meanwhile)
    other.start()
    x = torch.zeros(1)
    try:
        assert torch.ops.meanwhile.shifted(x).item() == 1
    finally:
        begun.set()
        other.join()
    assert torch.ops.meanwhile.shifted(x).item() == 2
