import ctypes
import threading

import pytest
from acl_binding import eventually

from mindtorch_npu_simulator import control

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Reporter(threading.Thread):
    """A thread that runs callbacks until it is told to stop."""

    def __init__(self, acl):
        super().__init__()
        self.acl, self.stopping = acl, threading.Event()
        self.start()
        eventually(lambda: self.ident)

    def run(self):
        while not self.stopping.is_set():
            self.acl.aclrtProcessReport(10)

    def stop(self):
        self.stopping.set()
        self.join()


@pytest.fixture
def reporter(acl):
    thread = Reporter(acl)
    yield thread
    thread.stop()


def test_callbacks_run_in_order_on_the_registered_thread(acl, reporter):
    stream, seen = acl.stream(), []
    function = CALLBACK(lambda argument: seen.append((argument, threading.get_ident())))
    acl.ok("aclrtSubscribeReport", reporter.ident, stream)
    for i in range(1, 6):
        acl.ok("aclrtLaunchCallback", function, i, 1, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert seen == [(i, reporter.ident) for i in range(1, 6)]
    acl.ok("aclrtUnSubscribeReport", reporter.ident, stream)
    assert acl.aclrtUnSubscribeReport(reporter.ident, stream) == 107015


def test_a_callback_may_let_its_stream_go_on(acl, reporter):
    stream, go, done = acl.stream(), threading.Event(), []
    function = CALLBACK(lambda _: (go.wait(100), done.append(1)))
    acl.ok("aclrtSubscribeReport", reporter.ident, stream)
    acl.ok("aclrtLaunchCallback", function, None, 0, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert done == []
    go.set()
    eventually(lambda: done)
    acl.ok("aclrtUnSubscribeReport", reporter.ident, stream)


def test_without_a_thread(acl):
    stream, function = acl.stream(), CALLBACK(lambda _: None)
    assert acl.aclrtLaunchCallback(function, None, 0, stream) == 107015
    assert acl.aclrtLaunchCallback(None, None, 0, stream) == 100000
    assert acl.aclrtLaunchCallback(function, None, 2, stream) == 100000
    assert acl.aclrtProcessReport(10) == 107012
    assert acl.aclrtProcessReport(0) == 100000


def test_waiting_for_callbacks_may_time_out(acl):
    stream, me = acl.stream(), threading.get_ident()
    acl.ok("aclrtSubscribeReport", me, stream)
    assert acl.aclrtSubscribeReport(me, stream) == 107000
    assert acl.aclrtProcessReport(5) == 507012
    acl.ok("aclrtUnSubscribeReport", me, stream)


def test_functions_of_the_host_run_in_the_stream(acl):
    stream, block, seen = acl.stream(), acl.malloc(64), []
    function = CALLBACK(lambda argument: seen.append(argument))
    with control.held("aclrtMemsetAsync"):
        acl.fill(block, 1, 64, stream)
        acl.ok("aclrtLaunchHostFunc", stream, function, 7)
        assert seen == []
    acl.ok("aclrtSynchronizeStream", stream)
    assert seen == [7]
    assert acl.aclrtLaunchHostFunc(stream, None, 7) == 100000


def test_a_callback_cannot_destroy_its_own_stream(acl):
    stream, codes = acl.stream(), []
    context = acl.get("aclrtGetCurrentContext", kind=ctypes.c_void_p)

    def destroy(_):
        acl.ok("aclrtSetCurrentContext", context)
        codes.append(acl.aclrtDestroyStream(stream))

    function = CALLBACK(destroy)
    acl.ok("aclrtLaunchHostFunc", stream, function, None)
    acl.ok("aclrtSynchronizeStream", stream)
    assert codes == [107000]
