import ctypes

import pytest
from acl_binding import output, run_python

from mindtorch_npu_simulator import control


def test_repeated_initialisation_has_its_code():
    text = "print(acl.aclInit(None), acl.aclInit(None), acl.aclFinalize(), acl.aclFinalize())"
    assert output(text) == "0 100002 0 100037"


def test_initialising_again_after_finalising():
    assert output("print(acl.aclInit(None), acl.aclFinalize(), acl.aclInit(None))") == "0 0 0"


def test_references_are_counted():
    code = """
acl.aclInit(None); acl.aclInit(None)
print(acl.get("aclFinalizeReference", kind=ctypes.c_uint64))
print(acl.get("aclFinalizeReference", kind=ctypes.c_uint64))
print(acl.aclFinalizeReference(None))
"""
    assert output(code).split() == ["1", "0", "100037"]


def test_configuration_files(tmp_path):
    good, other, bad = (tmp_path / name for name in ("good", "other", "bad"))
    good.write_text("{}")
    other.write_text('{"err_msg_mode": "1"}')
    bad.write_text("[")
    code = f"""
print(acl.aclInit(b"{tmp_path}/none"), acl.aclInit(b"{bad}"), acl.aclInit(b"{good}"))
print(acl.aclInit(b"{good}"), acl.aclInit(b"{other}"))
"""
    assert output(code).split() == ["100000", "100006", "0", "100002", "100000"]


def test_version_is_that_of_the_interface(acl):
    numbers = [ctypes.c_int32() for _ in range(3)]
    acl.ok("aclrtGetVersion", *map(ctypes.byref, numbers))
    assert [n.value for n in numbers] == [1, 13, 0]
    assert acl.aclrtGetVersion(None, None, None) == 100000


def test_the_name_of_the_processor_comes_from_the_environment():
    assert output("print(acl.soc().decode())") == "Ascend910B3"
    assert output("print(acl.soc().decode())", NPU_SIMULATOR_SOC="Ascend310P3") == "Ascend310P3"
    assert output("print(acl.soc())", NPU_SIMULATOR_DEVICES="0") == "None"


def test_a_message_is_cleared_by_reading(acl):
    assert acl.aclrtSetDevice(99) == 107001
    assert "no device 99" in acl.message()
    assert acl.message() is None


def test_messages_are_per_thread(acl):
    import threading

    acl.aclrtSetDevice(99)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(acl.message()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert acl.message() is not None


def test_last_error_is_kept_until_it_is_taken(acl):
    acl.aclrtGetLastError(0)
    acl.aclrtSetDevice(99)
    assert acl.aclrtPeekAtLastError(0) == 107001
    assert acl.aclrtGetLastError(0) == 107001
    assert acl.aclrtGetLastError(0) == 0
    assert acl.aclrtGetLastError(3) == 100000


def test_a_forked_child_gets_an_error_and_not_a_hang():
    code = """
acl.aclInit(None); acl.aclrtSetDevice(0)
child = os.fork()
if child == 0:
    os._exit(0 if acl.aclrtSetDevice(0) == 507899 and "fork" in acl.message() else 1)
print(os.waitpid(child, 0)[1], acl.aclrtSynchronizeDevice())
"""
    assert output(code) == "0 0"


def test_exit_with_work_queued_does_not_hang():
    code = """
from mindtorch_npu_simulator import control
acl.aclInit(None); acl.aclrtSetDevice(0)
slow(20)
block = acl.malloc(64)
stream = acl.stream()
for _ in range(100): acl.fill(block, 1, 64, stream)
print("over")
"""
    assert output(code) == "over"


@pytest.mark.parametrize(
    ("size", "numbers"),
    [
        (0, (-1, 13, 99)),
        (1, (2, 4, 12)),
        (2, (1, 27, 7)),
        (4, (0, 3, 33)),
        (8, (9, 11, 16)),
        (16, (17,)),
    ],
)
def test_sizes_of_types(acl, size, numbers):
    acl.library.aclDataTypeSize.restype = ctypes.c_size_t
    assert {acl.library.aclDataTypeSize(number) for number in numbers} == {size}


def test_half_floats_are_converted_as_numpy_does(acl):
    np = pytest.importorskip("numpy")
    to_float, to_half = acl.library.aclFloat16ToFloat, acl.library.aclFloatToFloat16
    to_float.argtypes, to_float.restype = [ctypes.c_uint16], ctypes.c_float
    to_half.argtypes, to_half.restype = [ctypes.c_float], ctypes.c_uint16
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    ours = np.array([to_float(int(bits)) for bits in halves.view(np.uint16)], dtype=np.float32)
    np.testing.assert_array_equal(ours, halves.astype(np.float32))
    finite = ours[np.isfinite(ours)]
    edges = [65519.0, 65520.0, 65536.0, 1e30, -1e30, 2.0**-25, 1e-30]
    between = (finite[:-1] + finite[1:]) / 2
    values = np.concatenate([finite, np.nextafter(finite, np.float32(1e9)), between, edges])
    values = values.astype(np.float32)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16).view(np.uint16)
    got = np.array([to_half(float(v)) for v in values], dtype=np.uint16)
    np.testing.assert_array_equal(got, expected)


def test_wrong_numbers_in_the_environment_are_told():
    done = run_python("print(acl.get('aclrtGetDeviceCount'))", NPU_SIMULATOR_DEVICES="many")
    assert done.stdout.strip() == "2"
    assert "NPU_SIMULATOR_DEVICES='many'" in done.stderr


def test_leaks_are_reported_when_finalising():
    code = """
from mindtorch_npu_simulator import control
acl.aclInit(None); acl.aclrtSetDevice(0)
acl.stream(); acl.malloc(64)
acl.aclFinalize()
print([f["kind"] for f in control.findings()], control.findings()[0]["text"])
"""
    text = output(code)
    assert text.startswith("['leak']")
    assert "1 x stream" in text
    assert "1 x device memory" in text


def test_the_control_finds_the_library_the_process_uses(binding):
    assert control.root().joinpath("lib64", "libascendcl.so").is_file()
    assert control.counters()["calls"] is not None
