"""HCCL's C interface, as far as the tests call it, and ranks as processes."""

import ctypes
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from acl_binding import Acl, eventually

from mindtorch_npu_simulator import control

INT8, INT16, INT32, FP16, FP32, INT64, UINT64, UINT8, UINT16, UINT32, FP64, BFP16 = range(12)
SUM, PROD, MAX, MIN = range(4)
FORMATS = {INT8: "b", INT16: "h", INT32: "i", FP16: "e", FP32: "f", INT64: "q", UINT64: "Q",
           UINT8: "B", UINT16: "H", UINT32: "I", FP64: "d"}  # fmt: skip
ROOT_INFO = 4108

# As in acl_binding; u uint32, L uint64.
PROTOTYPES = {
    "HcclGetRootInfo": "p", "HcclCommInitRootInfo": "upuP", "HcclCommInitRootInfoConfig": "upupP",
    "HcclCommInitClusterInfo": "suP", "HcclCommInitClusterInfoConfig": "supP",
    "HcclCommInitAll": "upp", "HcclCreateSubCommConfig": "pupLupP", "HcclCommDestroy": "p",
    "HcclGetRankSize": "pP", "HcclGetRankId": "pP", "HcclGetCommName": "pp",
    "HcclGetCommAsyncError": "pP", "HcclSetConfig": "ii", "HcclGetConfig": "iP",
    "HcclCommSuspend": "p", "HcclCommResume": "p", "HcclAllReduce": "ppLiipp",
    "HcclBroadcast": "pLiupp", "HcclAllGather": "ppLipp", "HcclReduceScatter": "ppLiipp",
    "HcclReduce": "ppLiiupp", "HcclScatter": "ppLiupp", "HcclSend": "pLiupp",
    "HcclRecv": "pLiupp", "HcclBatchSendRecv": "pupp", "HcclAlltoAll": "pLipLipp",
    "HcclAlltoAllV": "pppipppipp", "HcclReduceScatterV": "ppppLiipp",
    "HcclAllGatherV": "pLpppipp", "HcclBarrier": "pp",
}  # fmt: skip
TYPES = {
    "p": ctypes.c_void_p, "P": ctypes.c_void_p, "u": ctypes.c_uint32, "i": ctypes.c_int32,
    "L": ctypes.c_uint64, "s": ctypes.c_char_p,
}  # fmt: skip


class Config(ctypes.Structure):
    """HcclCommConfig of CANN 8.1."""

    _fields_ = (
        ("size", ctypes.c_size_t), ("magic", ctypes.c_uint32), ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint64), ("buffer", ctypes.c_uint32),
        ("deterministic", ctypes.c_uint32), ("name", ctypes.c_char * 128),
        ("udi", ctypes.c_char * 128), ("mode", ctypes.c_uint32), ("traffic", ctypes.c_uint32),
        ("level", ctypes.c_uint32),
    )  # fmt: skip

    def __init__(self, name=b""):
        unset = 0xFFFFFFFF
        super().__init__(ctypes.sizeof(Config), 0xF0F0F0F0, 5, 0, unset, unset, name, b"", 0,
                         unset, unset)  # fmt: skip


class Item(ctypes.Structure):
    """HcclSendRecvItem."""

    _fields_ = (
        ("type", ctypes.c_int32), ("buf", ctypes.c_void_p), ("count", ctypes.c_uint64),
        ("dtype", ctypes.c_int32), ("remote", ctypes.c_uint32),
    )  # fmt: skip


def library():
    """libhccl with its prototypes."""
    found = ctypes.CDLL(str(control.root() / "lib64" / "libhccl.so"))
    for name, kinds in PROTOTYPES.items():
        function = getattr(found, name)
        function.argtypes, function.restype = [TYPES[kind] for kind in kinds], ctypes.c_int32
    found.HcclGetErrorString.restype = ctypes.c_char_p
    found.HcclGetErrorString.argtypes = [ctypes.c_int32]
    found.HcclGetCommConfigCapability.restype = ctypes.c_uint32
    return found


class Rank:
    """One rank of a program: its device, a stream, a communicator of all ranks."""

    def __init__(self, rank, size, folder):
        self.rank, self.size, self.folder = rank, size, Path(folder)
        self.acl, self.hccl = Acl(), library()
        self.acl.ok("aclInit", None)
        self.acl.ok("aclrtSetDevice", rank)
        self.stream = self.acl.stream()
        self.comm = None

    def info(self, name="info"):
        """Root info by a file: rank 0's."""
        path = self.folder / name
        if self.rank == 0:
            data = ctypes.create_string_buffer(ROOT_INFO)
            self.ok("HcclGetRootInfo", data)
            part = path.with_suffix(".part")
            part.write_bytes(data.raw)
            part.rename(path)
        eventually(path.exists, 30)
        return path.read_bytes()

    def join(self, info=None, config=None):
        """A communicator of all ranks."""
        comm = ctypes.c_void_p()
        info = info or self.info()
        more = () if config is None else (ctypes.byref(config),)
        name = "HcclCommInitRootInfoConfig" if more else "HcclCommInitRootInfo"
        self.ok(name, self.size, info, self.rank, *more, ctypes.byref(comm))
        self.comm = self.comm or comm.value
        return comm.value

    def ok(self, name, *arguments):
        code = getattr(self.hccl, name)(*arguments)
        assert code == 0, f"{name}: {code}: {self.acl.message()}"

    def refused(self, name, *arguments):
        """The code of a call that must fail, and its text."""
        code = getattr(self.hccl, name)(*arguments)
        assert code != 0, name
        return code, self.acl.message()

    def number(self, name, comm=None):
        value = ctypes.c_uint32()
        self.ok(name, comm or self.comm, ctypes.byref(value))
        return value.value

    def put(self, values, dtype=FP32):
        """Device memory with numbers."""
        data = struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)
        block = self.acl.malloc(max(len(data), 8))
        if data:
            self.acl.write(block, data)
        return block

    def values(self, block, count, dtype=FP32):
        """Numbers out of device memory, after the stream."""
        self.sync()
        kind = f"<{count}{FORMATS[dtype]}"
        return list(struct.unpack(kind, self.acl.read(block, struct.calcsize(kind))))

    def sync(self):
        self.acl.ok("aclrtSynchronizeStream", self.stream)

    def failure(self):
        """Code and text with which the stream has failed."""
        code = self.acl.aclrtSynchronizeStream(self.stream)
        return code, self.acl.message()

    def error(self):
        """The communicator's asynchronous error."""
        value = ctypes.c_int32()
        self.ok("HcclGetCommAsyncError", self.comm, ctypes.byref(value))
        return value.value

    def end(self):
        """Let go of everything; nothing must be left, nothing reported."""
        self.ok("HcclCommDestroy", self.comm)
        self.acl.close()
        assert control.findings() == [], control.findings()
        assert control.live() == {}, control.live()


PRELUDE = """
import os, signal, sys, time
from hccl_binding import *
me = Rank(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
rank, size, hccl, stream = me.rank, me.size, me.hccl, me.stream
total = sum(range(1, size + 1))
"""


def started(code, count, folder, **environment):
    """Processes that run code as ranks."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("NPU_SIMULATOR_")}
    path = [str(Path(__file__).parent), *filter(None, sys.path)]
    variables |= {"PYTHONPATH": os.pathsep.join(path), "NPU_SIMULATOR_DEVICES": str(count)}
    variables |= {"ASCEND_TOOLKIT_HOME": str(control.root()), **environment}
    return [
        subprocess.Popen(
            [sys.executable, "-c", PRELUDE + code, str(rank), str(count), folder],
            env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(count)
    ]  # fmt: skip


def play(code, count=2, *, statuses=None, seconds=50, **environment):
    """Run code as ranks; gives what each printed. It must end, each with its status."""
    before = segments()
    with tempfile.TemporaryDirectory() as folder:
        running = started(code, count, folder, **environment)
        end = time.monotonic() + seconds
        try:
            said = [p.communicate(timeout=max(1, end - time.monotonic())) for p in running]
        finally:
            for process in running:
                process.kill()
                process.wait()
    found = [process.returncode for process in running]
    assert found == (statuses or [0] * count), [error[-2000:] for _, error in said]
    assert segments() == before, "shared memory was left behind"
    return [out.strip() for out, _ in said]


def segments():
    """What lies in the machine's shared memory under the simulator's name."""
    return sorted(str(each) for each in Path("/dev/shm").glob("*npu-simulator*"))
