"""HCCL's operations: ranks are processes, data goes through shared memory, on streams."""

import ctypes

import pytest
from hccl_binding import library, play

from mindtorch_npu_simulator import control


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_operation(count):
    code = """
me.join()
assert (me.number("HcclGetRankSize"), me.number("HcclGetRankId")) == (size, rank)
comm = me.comm
for n in (1, 7, 300_001):  # more than a window holds
    mine = me.put([rank + 1.0] * n)
    out = me.put([0.0] * n)
    me.ok("HcclAllReduce", mine, out, n, FP32, SUM, comm, stream)
    assert me.values(out, n) == [total] * n
    me.ok("HcclAllReduce", mine, mine, n, FP32, MAX, comm, stream)  # in place
    assert me.values(mine, n) == [size] * n
    mine = me.put([rank + 1.0] * n)
    out = me.put([-1.0] * n)
    me.ok("HcclReduce", mine, out, n, FP32, PROD, size - 1, comm, stream)
    product = 1.0
    for r in range(size): product *= r + 1
    assert me.values(out, n) == [product if rank == size - 1 else -1.0] * n
    me.ok("HcclBroadcast", mine, n, FP32, size - 1, comm, stream)
    assert me.values(mine, n) == [size] * n
    mine = me.put(range(rank, rank + n), INT32)
    out = me.put([0] * (n * size), INT32)
    me.ok("HcclAllGather", mine, out, n, INT32, comm, stream)
    assert me.values(out, n * size, INT32) == [r + i for r in range(size) for i in range(n)]
    whole = me.put([(rank + 1) * (10 * p + i % 3) for p in range(size) for i in range(n)], INT64)
    out = me.put([0] * n, INT64)
    me.ok("HcclReduceScatter", whole, out, n, INT64, SUM, comm, stream)
    assert me.values(out, n, INT64) == [total * (10 * rank + i % 3) for i in range(n)]
    out = me.put([0] * n, INT64)
    me.ok("HcclScatter", whole, out, n, INT64, 0, comm, stream)
    assert me.values(out, n, INT64) == [10 * rank + i % 3 for i in range(n)]
    out = me.put([0] * (n * size), INT64)
    me.ok("HcclAlltoAll", whole, n, INT64, out, n, INT64, comm, stream)
    expected = [(r + 1) * (10 * rank + i % 3) for r in range(size) for i in range(n)]
    assert me.values(out, n * size, INT64) == expected
    me.ok("HcclBarrier", comm, stream)
me.sync()
me.end()
"""
    play(code, count)


def test_parts_of_different_sizes():
    code = """
me.join()
row = ctypes.c_uint64 * size
for base in (1, 200_000):
    # Rank r sends base * (r + 1) numbers to each; two are left free between what comes.
    n = base * (rank + 1)
    sent = me.put([float(10 * rank + p) for p in range(size) for _ in range(n)])
    places = [sum(base * (r + 1) + 2 for r in range(p)) for p in range(size)]
    out = me.put([-1.0] * (places[-1] + base * size))
    counts = row(*[base * (r + 1) for r in range(size)])
    me.ok("HcclAlltoAllV", sent, row(*[n] * size), row(*[n * p for p in range(size)]), FP32,
          out, counts, row(*places), FP32, me.comm, stream)
    found = me.values(out, places[-1] + base * size)
    for r in range(size):
        assert found[places[r]:places[r] + base * (r + 1)] == [10.0 * r + rank] * (base * (r + 1))
    assert found[base:base + 2] == [-1.0, -1.0]
    mine = me.put([float(rank)] * n)
    me.ok("HcclAllGatherV", mine, n, out, counts, row(*places), FP32, me.comm, stream)
    found = me.values(out, places[-1] + base * size)
    for r in range(size):
        assert found[places[r]:places[r] + base * (r + 1)] == [float(r)] * (base * (r + 1))
    ends = [sum(base * (r + 1) for r in range(p)) for p in range(size)]
    whole = me.put([float(p) for p in range(size) for _ in range(base * (p + 1))])
    mine = me.put([0.0] * n)
    me.ok("HcclReduceScatterV", whole, counts, row(*ends), mine, n, FP32, SUM, me.comm, stream)
    assert me.values(mine, n) == [float(size * rank)] * n
me.end()
"""
    play(code, 3)


def test_messages():
    code = """
me.join()
right, left = (rank + 1) % size, (rank - 1) % size
for n in (0, 5, 50_000):
    out, got = me.put([float(rank)] * n), me.put([-1.0] * n)
    order = ("HcclSend", out, right), ("HcclRecv", got, left)
    for name, block, peer in order if rank else reversed(order):
        me.ok(name, block, n, FP32, peer, me.comm, stream)
    assert me.values(got, n) == [float(left)] * n
    # Both ways at once, two to the same rank: a batch has no order.
    twice = me.put([100.0 + rank] * n), me.put([-1.0] * n)
    items = (Item * 4)((0, out, n, FP32, right), (0, twice[0], n, FP32, right),
                       (1, got, n, FP32, left), (1, twice[1], n, FP32, left))
    me.ok("HcclBatchSendRecv", items, 4, me.comm, stream)
    assert me.values(twice[1], n) == [100.0 + left] * n
me.end()
"""
    play(code, 3)


def test_types_that_are_moved_and_reduced():
    code = """
me.join()
for dtype in FORMATS:
    mine, out = me.put([rank + 1] * 3, dtype), me.put([0] * 3 * size, dtype)
    me.ok("HcclAllGather", mine, out, 3, dtype, me.comm, stream)
    assert me.values(out, 3 * size, dtype) == [r + 1 for r in range(size) for _ in range(3)]
    if dtype in (INT8, INT16, INT32, INT64, FP16, FP32):
        me.ok("HcclAllReduce", mine, mine, 3, dtype, SUM, me.comm, stream)
        assert me.values(mine, 3, dtype) == [total] * 3
    else:
        code, text = me.refused("HcclAllReduce", mine, mine, 3, dtype, SUM, me.comm, stream)
        assert code == 5 and "does not reduce" in text, (code, text)
one = me.put([0x3F80, 0x4000], UINT16)  # 1 and 2 as bfloat16
me.ok("HcclAllReduce", one, one, 2, BFP16, SUM, me.comm, stream)
assert me.values(one, 2, UINT16) == [0x4000, 0x4080]
for dtype in (INT16, BFP16):
    assert me.refused("HcclAllReduce", one, one, 2, dtype, PROD, me.comm, stream)[0] == 5
assert me.refused("HcclAllReduce", one, one, 2, FP16, 7, me.comm, stream)[0] == 5
assert me.refused("HcclBroadcast", one, 2, 12, 0, me.comm, stream)[0] == 5
me.end()
"""
    play(code)


def test_older_processors_reduce_less():
    code = """
me.join()
two = me.put([1, 2], INT16)
assert me.refused("HcclAllReduce", two, two, 2, INT16, SUM, me.comm, stream)[0] == 5
assert me.refused("HcclBroadcast", two, 2, BFP16, 0, me.comm, stream)[0] == 5
me.ok("HcclBroadcast", two, 2, INT16, 0, me.comm, stream)
me.sync()
me.end()
"""
    play(code, NPU_SIMULATOR_SOC="Ascend910A")


def test_operations_follow_their_stream_and_return_at_once():
    code = """
from mindtorch_npu_simulator import control
me.join()
block = me.put([0.0] * 4)
with control.held("aclrtMemsetAsync"):
    me.acl.fill(block, 0x40, 16, stream)  # what is queued before it
    me.ok("HcclAllReduce", block, block, 4, FP32, SUM, me.comm, stream)
    ran = [e["name"] for e in control.log() if e["kind"] == "run"]
    assert "HcclAllReduce" not in ran
value = struct.unpack("<f", b"@@@@")[0]
assert me.values(block, 4) == [size * value] * 4
me.end()
"""
    play("import struct\n" + code)


def test_parts_of_the_ranks():
    code = """
me.join()
parent, config = ctypes.c_void_p(me.comm), Config(b"odd and even")
ranks = [r for r in range(size) if r % 2 == rank % 2][::-1]
ids, part = (ctypes.c_uint32 * len(ranks))(*ranks), ctypes.c_void_p()
me.ok("HcclCreateSubCommConfig", ctypes.byref(parent), len(ranks), ids, 5 + rank % 2,
      ranks.index(rank), ctypes.byref(config), ctypes.byref(part))
assert me.number("HcclGetRankSize", part) == len(ranks)
assert me.number("HcclGetRankId", part) == ranks.index(rank)
name = ctypes.create_string_buffer(128)
me.ok("HcclGetCommName", part, name)
assert name.value == b"odd and even"
block = me.put([rank] * 2, INT32)
me.ok("HcclAllReduce", block, block, 2, INT32, SUM, part, stream)
assert me.values(block, 2, INT32) == [sum(ranks)] * 2
none = ctypes.c_void_p()
me.ok("HcclCreateSubCommConfig", ctypes.byref(parent), 0, None, 9, 0, None, ctypes.byref(none))
assert none.value is None
me.ok("HcclCommDestroy", part)
me.end()
"""
    play(code, 4)


def test_all_devices_in_one_process():
    code = """
import threading
devices, comms = (ctypes.c_int32 * 2)(0, 1), (ctypes.c_void_p * 2)()
me.ok("HcclCommInitAll", 2, devices, comms)
found = {}
def work(index):
    acl = Acl()
    acl.ok("aclrtSetDevice", index)
    stream, block = acl.stream(), acl.malloc(4)
    acl.write(block, struct.pack("<f", 1.0 + index))
    me.ok("HcclAllReduce", block, block, 1, FP32, SUM, comms[index], stream)
    acl.ok("aclrtSynchronizeStream", stream)
    found[index] = struct.unpack("<f", acl.read(block, 4))
    me.ok("HcclCommDestroy", comms[index])
    acl.close()
threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
assert found == {0: (3.0,), 1: (3.0,)}, found
"""
    play("import struct\n" + code, 1, NPU_SIMULATOR_DEVICES="2")


def test_what_is_wrong_with_arguments_is_refused():
    code = """
me.join()
block = me.put([0.0])
call = lambda *a: me.refused(*a)[0]
assert call("HcclAllReduce", None, block, 1, FP32, SUM, me.comm, stream) == 2
assert call("HcclAllReduce", block, block, 1, FP32, SUM, None, stream) == 2
assert call("HcclBroadcast", block, 1, FP32, size, me.comm, stream) == 1
assert call("HcclSend", block, 1, FP32, rank, me.comm, stream) == 1
assert call("HcclCommInitClusterInfo", b"table.json", 0, None) == 5
assert call("HcclCommInitRootInfo", 2, b"x" * 4108, 0, ctypes.byref(ctypes.c_void_p())) == 11
assert call("HcclGetRootInfo", None) == 2
empty = Config()
empty.magic = 0
info = bytes(4108)
assert call("HcclCommInitRootInfoConfig", 1, info, 0, ctypes.byref(empty), None) == 1
me.ok("HcclAllReduce", None, None, 0, FP32, SUM, me.comm, stream)  # nothing to do
value = ctypes.c_int32()
me.ok("HcclSetConfig", 0, 1)
me.ok("HcclGetConfig", 0, ctypes.byref(value))
assert value.value == 1
assert call("HcclSetConfig", 3, 1) == 1
assert hccl.HcclGetErrorString(9) == b"timeout"
me.end()
"""
    play(code)


def test_memory_that_was_freed_is_found():
    code = """
from mindtorch_npu_simulator import control
me.join()
block = me.put([0.0])
me.acl.destroy(block)
me.ok("HcclAllReduce", block, block, 1, FP32, SUM, me.comm, stream)
assert me.failure()[0] != 0
assert "use-after-free" in {f["kind"] for f in control.findings()}
"""
    play(code, 1)


def test_without_a_device_there_is_no_communicator(acl):
    hccl, comm = library(), ctypes.c_void_p()
    assert hccl.HcclCommDestroy(None) == 2
    assert hccl.HcclGetRankSize(ctypes.c_void_p(77), ctypes.byref(comm)) == 1
    assert [f["kind"] for f in control.findings(clear=True)] == ["unknown-handle"]
