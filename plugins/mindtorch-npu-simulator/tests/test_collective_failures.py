"""What goes wrong between ranks: found at once where it can be, at a deadline where not."""

import signal

import pytest
from hccl_binding import play

FAILED = """
from mindtorch_npu_simulator import control
me.join()
block = me.put([1.0] * 8)
def kinds(): return [f["kind"] for f in control.findings()]
"""


@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ("'HcclAllReduce', block, block, 5, FP32, SUM", "rank 1 calls HcclAllReduce(5 x FP32"),
        ("'HcclAllReduce', block, block, 4, INT32, SUM", "rank 1 calls HcclAllReduce(4 x INT32"),
        ("'HcclAllReduce', block, block, 4, FP32, MAX", "rank 1 calls HcclAllReduce(4 x FP32, MAX"),
        ("'HcclBroadcast', block, 4, FP32, 0", "rank 1 calls HcclBroadcast(4 x FP32, root 0)"),
        ("'HcclBarrier',", "rank 1 calls HcclBarrier()"),
    ],
)
def test_calls_that_do_not_go_together(odd, text):
    code = f"""{FAILED}
call = ({odd}) if rank == 1 else ("HcclAllReduce", block, block, 4, FP32, SUM)
me.ok(*call, me.comm, stream)
code, said = me.failure()
assert code == 507018, code
print(said)
assert kinds() == ["collective-mismatch"], kinds()
assert me.error() == 1
assert me.refused("HcclBarrier", me.comm, stream)[0] == 1  # it is of no use any more
"""
    for said in play(code, 3):
        assert text in said, said
        assert "others call HcclAllReduce(4 x FP32, SUM)" in said
        assert "call 1 of hccl_" in said


def test_the_number_of_the_call_is_told():
    code = f"""{FAILED}
for _ in range(3 if rank else 2):  # rank 1 goes on, rank 0 does something else
    me.ok("HcclAllReduce", block, block, 4, FP32, SUM, me.comm, stream)
if rank == 0: me.ok("HcclBarrier", me.comm, stream)
print(me.failure()[1])
"""
    assert all("call 3 of" in said for said in play(code))


@pytest.mark.parametrize(
    ("sent", "expected", "text"),
    [
        (
            "(4, FP32)",
            "(3, FP32)",
            "rank 0 sends HcclSend(4 x FP32), and rank 1 expects HcclRecv(3",
        ),
        ("(4, FP32)", "(4, INT32)", "rank 1 expects HcclRecv(4 x INT32)"),
    ],
)
def test_messages_that_their_receiver_does_not_expect(sent, expected, text):
    code = f"""{FAILED}
name, kind = ("HcclRecv", {expected}) if rank else ("HcclSend", {sent})
me.ok(name, block, *kind, 1 - rank, me.comm, stream)
print(me.failure()[1])
assert kinds() == ["collective-mismatch"]
"""
    assert all(text in said for said in play(code))


def test_sizes_that_do_not_go_together():
    code = f"""{FAILED}
row = ctypes.c_uint64 * 2
sent, places = row(1, 2) if rank == 0 else row(1, 1), row(0, 4)
me.ok("HcclAlltoAllV", block, sent, places, FP32, me.put([0.0] * 8), row(1, 1), places, FP32,
      me.comm, stream)
print(me.failure()[1])
"""
    text = "rank 0 sends 8 bytes to rank 1, which expects 4"
    assert all(text in said for said in play(code))


@pytest.mark.parametrize("waits", ["HcclBarrier", "HcclRecv"])
def test_a_rank_that_is_killed(waits):
    code = f"""{FAILED}
if rank == 1:
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)
if "{waits}" == "HcclBarrier": me.ok("HcclBarrier", me.comm, stream)
else: me.ok("HcclRecv", block, 1, FP32, 1, me.comm, stream)
began = time.monotonic()
print(me.failure()[1])
assert time.monotonic() - began < 20
assert me.error() == 21
assert me.refused("HcclBarrier", me.comm, stream)[0] == 21
assert kinds() == []
"""
    said = play(code, statuses=[0, -signal.SIGKILL])
    assert "the process of rank 1 has died" in said[0]


def test_a_process_that_is_killed_before_all_have_come_leaves_nothing():
    code = """
if rank == 0:
    me.info()
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)
comm = ctypes.c_void_p()
code, text = me.refused("HcclCommInitRootInfo", size, me.info(), rank, ctypes.byref(comm))
assert code == 9 and "these ranks have not come: 0" in text, (code, text)
"""
    play(code, statuses=[-signal.SIGKILL, 0], HCCL_CONNECT_TIMEOUT="3")


def test_a_forked_child_does_not_keep_its_rank_alive():
    code = f"""{FAILED}
if rank == 1:
    if os.fork() == 0:
        sys.stdout.close(); os.close(1); os.close(2)
        time.sleep(4); os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
me.ok("HcclBarrier", me.comm, stream)
print(me.failure()[1])
"""
    said = play(code, statuses=[0, -signal.SIGKILL])
    assert "the process of rank 1 has died" in said[0]


def test_a_rank_that_does_not_come_in_time():
    code = f"""{FAILED}
if rank == 1:
    time.sleep(4)
else:
    me.ok("HcclBarrier", me.comm, stream)
    code, said = me.failure()
    assert code == 507017, code
    assert "after 1 s (HCCL_EXEC_TIMEOUT) missing: rank 1" in said, said
    assert me.error() == 9
    assert kinds() == ["collective-timeout"]
"""
    play(code, HCCL_EXEC_TIMEOUT="1")


def test_a_rank_that_has_let_go():
    code = f"""{FAILED}
if rank == 1:
    me.ok("HcclCommDestroy", me.comm)
    time.sleep(2)
else:
    me.ok("HcclBarrier", me.comm, stream)
    assert "rank 1 has destroyed the communicator" in me.failure()[1]
"""
    play(code)


def test_a_fault_that_was_injected_is_heard_of_by_all():
    code = f"""{FAILED}
if rank == 1: control.inject("kernel:HcclAllReduce:2=507015")
for _ in range(2): me.ok("HcclAllReduce", block, block, 4, FP32, SUM, me.comm, stream)
code, said = me.failure()
print(code, said)
assert me.error() == (4 if rank == 1 else 21)
"""
    first, second = play(code)
    assert first.startswith("507018")
    assert "did not run on rank 1" in first
    assert second.startswith("507015")


def test_a_call_that_fails_and_one_that_takes_long():
    code = f"""{FAILED}
control.inject("HcclAllReduce:1=7")
assert me.refused("HcclAllReduce", block, block, 4, FP32, SUM, me.comm, stream)[0] == 7
if rank == 1: control.latency("kernel:HcclAllReduce=400000")
began = time.monotonic()
me.ok("HcclAllReduce", block, block, 4, FP32, SUM, me.comm, stream)
queued = time.monotonic() - began
assert me.values(block, 4) == [2.0] * 4
assert time.monotonic() - began >= 0.39 > queued
me.end()
"""
    play(code)


def test_operations_are_resumed_after_a_mismatch():
    code = f"""{FAILED}
for again in range(2):
    me.ok("HcclAllReduce", block, block, 4 + rank, FP32, SUM, me.comm, stream)
    assert me.failure()[0] == 507018
    me.ok("HcclCommSuspend", me.comm)
    assert me.refused("HcclBarrier", me.comm, stream)[0] == 22
    me.ok("HcclCommResume", me.comm)
    one = me.put([1.0] * 300_000)
    me.ok("HcclAllReduce", one, one, 300_000, FP32, SUM, me.comm, stream)
    assert me.values(one, 300_000) == [2.0] * 300_000
    if rank: me.ok("HcclSend", one, 9, FP32, 0, me.comm, stream)
    else: me.ok("HcclRecv", one, 9, FP32, 1, me.comm, stream)
    me.sync()
assert me.error() == 0
control.findings(clear=True)
me.end()
"""
    play(code)


def test_two_ranks_want_two_devices():
    code = """
comm, info = ctypes.c_void_p(), me.info()
me.acl.ok("aclrtSetDevice", 0)
code, text = me.refused("HcclCommInitRootInfo", size, info, rank, ctypes.byref(comm))
assert code == 1 and "ranks 0 and 1 both use device 0" in text, (code, text)
"""
    play(code)


def test_a_rank_comes_once_and_all_agree_on_their_number():
    code = """
comm, info = ctypes.c_void_p(), me.info()
there, done = (os.path.join(sys.argv[3], name) for name in ("there", "done"))
if rank == 0:
    with open(there, "w") as file: file.write(str(os.getpid()))
    me.join(info)
    while not os.path.exists(done): time.sleep(0.05)  # what is asked of a rank that has gone is another thing
else:
    def waits():
        if not os.path.exists(there) or not (pid := open(there).read()): return False
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "S"
    still = 0
    while still < 20:  # looks at which rank 0 was asleep: it has said how many they are, and waits
        still = still + 1 if waits() else 0
        time.sleep(0.05)
    call = me.refused("HcclCommInitRootInfo", 3, info, 1, ctypes.byref(comm))
    assert call[0] == 1, call
    me.join(info)
    call = me.refused("HcclCommInitRootInfo", 2, info, 1, ctypes.byref(comm))
    open(done, "w").close()
    assert call[0] == 1, call
"""
    play(code)


def test_a_communicator_is_not_destroyed_while_it_is_used():
    code = f"""{FAILED}
with control.held("HcclBarrier"):
    me.ok("HcclBarrier", me.comm, stream)
    me.ok("HcclCommDestroy", me.comm)
assert kinds() == ["communicator-in-use"], kinds()
assert me.failure()[0] == 507018
"""
    play(code)
