import ctypes

import pytest
from acl_binding import H2D, output

from mindtorch_npu_simulator import control

HBM = 1


@pytest.fixture
def limit():
    yield control.set_memory_limit
    control.set_memory_limit(4 << 30)


def free_memory(acl, attribute=HBM):
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl.ok("aclrtGetMemInfo", attribute, ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def test_blocks_hold_what_is_written(acl):
    blocks = [acl.malloc(1000 + i) for i in range(10)]
    for i, block in enumerate(blocks):
        acl.write(block, bytes([i]) * (1000 + i))
    for i, block in enumerate(blocks):
        assert block % 64 == 0
        assert acl.read(block, 1000 + i) == bytes([i]) * (1000 + i)


def test_new_memory_looks_wrong_and_not_empty(acl):
    assert acl.read(acl.malloc(64), 64) == b"\xff" * 64  # NaN as a float of any width
    assert ctypes.string_at(acl.pinned(64), 64) == b"\xff" * 64


@pytest.mark.parametrize("symbol", ["aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"])
def test_arguments_of_allocations(acl, symbol):
    call, result = getattr(acl, symbol), ctypes.c_void_p()
    where = ctypes.byref(result)
    assert call(where, 0, 0) == 100000
    assert call(None, 64, 0) == 100000
    assert call(where, 64, 8) == 100000
    assert call(where, 1 << 63, 0) == 207001
    assert call(where, 64, 2 | 0x1000) == 0
    acl.ok("aclrtFree", result)


def test_sizes_are_rounded_as_documented(acl):
    before, total = free_memory(acl)
    assert total == 4 << 30
    acl.malloc(33)
    assert before - free_memory(acl)[0] == 64 + 32
    acl.make("aclrtFree", "aclrtMallocAlign32", 33, 0)
    assert before - free_memory(acl)[0] == 64 + 32 + 64
    acl.make("aclrtFree", "aclrtMallocWithCfg", 1, 0, None)
    assert before - free_memory(acl)[0] == 64 + 32 + 64 + 64


def test_a_device_with_hbm_has_no_ddr(acl):
    assert free_memory(acl, 0) == (0, 0)
    assert free_memory(acl, 5) == (4 << 30, 4 << 30)
    where = ctypes.byref(ctypes.c_size_t())
    assert acl.aclrtGetMemInfo(18, where, where) == 100000


def test_a_device_with_ddr_answers_for_both():
    code = """
acl.aclInit(None); acl.aclrtSetDevice(0)
for attribute in (0, 1):
    a, b = ctypes.c_size_t(), ctypes.c_size_t()
    acl.aclrtGetMemInfo(attribute, ctypes.byref(a), ctypes.byref(b))
    print(b.value)
"""
    variables = {"NPU_SIMULATOR_SOC": "Ascend310P3", "NPU_SIMULATOR_MEMORY": "1000000"}
    assert output(code, **variables).split() == ["1000000", "1000000"]


def test_running_out_of_memory(acl, limit):
    limit(10000)
    first = acl.malloc(6000)
    assert acl.aclrtMalloc(ctypes.byref(ctypes.c_void_p()), 6000, 0) == 207001
    assert "out of memory" in acl.message()
    acl.destroy(first)
    acl.malloc(6000)
    limit(1000)  # below what is in use
    assert free_memory(acl) == (0, 1000)


def test_devices_have_memory_of_their_own(acl, limit):
    limit(1000, device=1)
    acl.malloc(5000)
    acl.ok("aclrtSetDevice", 1)
    assert acl.aclrtMalloc(ctypes.byref(ctypes.c_void_p()), 5000, 0) == 207001
    acl.malloc(500)


def test_freed_addresses_are_not_used_again_at_once(acl):
    seen = set()
    for _ in range(100):
        block = acl.malloc(64)
        acl.destroy(block)
        seen.add(block)
    assert len(seen) == 100


def shared_memory():
    """How many bytes of shared memory, of which devices are made, the process holds."""
    with open("/proc/self/status") as f:
        kilobytes = next(line.split()[1] for line in f if line.startswith("RssShmem"))
    return int(kilobytes) << 10


def test_freed_memory_goes_back_to_the_system(acl):
    before = shared_memory()
    block = acl.malloc(32 << 20)  # touched, as new memory is filled
    assert shared_memory() - before >= 32 << 20
    acl.destroy(block)
    assert shared_memory() - before < 4 << 20


def test_wrong_frees(acl, found):
    block, pinned = acl.malloc(64), acl.pinned(64)
    assert acl.aclrtFree(None) == 100000
    assert acl.aclrtFreeHost(None) == 100000
    assert acl.aclrtFree(block + 8) == 107000
    found("invalid-free", words=["byte 8 of block"])
    assert acl.aclrtFree(pinned) == 107000
    assert acl.aclrtFreeHost(block) == 107000
    found("invalid-free", "invalid-free")
    acl.destroy(block)
    acl.destroy(pinned)
    assert acl.aclrtFree(block) == 107000
    assert acl.aclrtFreeHost(pinned) == 107000
    found("double-free", "double-free", words=["was freed"])
    assert acl.aclrtFree(0x1000) == 107000
    found("unknown-address")


def test_pinned_memory_belongs_to_the_host_too(acl):
    pinned, block = acl.pinned(64), acl.malloc(64)
    ctypes.memmove(pinned, b"h" * 64, 64)
    acl.ok("aclrtMemcpy", block, 64, pinned, 64, H2D)
    assert acl.read(block, 64) == b"h" * 64
    assert acl.aclrtMallocHost(ctypes.byref(ctypes.c_void_p()), 0) == 100000


def test_registered_memory_counts_as_pinned(acl):
    buffer = ctypes.create_string_buffer(b"r" * 64, 64)
    address = ctypes.addressof(buffer)
    where = ctypes.byref(ctypes.c_void_p())
    acl.ok("aclrtHostRegister", address, 64, 0, where)
    assert acl.aclrtHostRegister(address, 64, 0, where) == 107000
    block, stream = acl.malloc(64), acl.stream()
    control.reset()
    acl.ok("aclrtMemcpyAsync", block, 64, address, 64, H2D, stream)
    assert control.counters()["synchronizations"] == 0
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 64) == b"r" * 64
    acl.ok("aclrtHostUnregister", address)
    assert acl.aclrtHostRegister(address, 0, 0, where) == 100000


def test_unregistering_what_was_not_registered(acl, found):
    pinned = acl.pinned(64)
    assert acl.aclrtHostUnregister(pinned) == 107000
    found("invalid-free")


class Attributes(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("type", ctypes.c_int32), ("page", ctypes.c_uint32)]
    _fields_ += [("reserved", ctypes.c_uint32 * 4)]


def test_attributes_of_pointers(acl):
    assert ctypes.sizeof(Attributes) == 28
    acl.ok("aclrtSetDevice", 1)
    block, pinned, host = acl.malloc(64), acl.pinned(64), ctypes.create_string_buffer(8)
    attributes = Attributes()
    for pointer, kind in ((block + 5, (1, 1)), (pinned, (0, 0)), (ctypes.addressof(host), (0, 0))):
        acl.ok("aclrtPointerGetAttributes", pointer, ctypes.byref(attributes))
        assert (attributes.type, attributes.id) == kind
    acl.destroy(block)
    assert acl.aclrtPointerGetAttributes(block, ctypes.byref(attributes)) == 107000


def test_caches_are_flushed_for_whole_blocks_only(acl):
    block = acl.malloc(64)
    acl.ok("aclrtMemFlush", block, 64)
    acl.ok("aclrtMemInvalidate", block, 64)
    assert acl.aclrtMemFlush(block, 65) == 107000
