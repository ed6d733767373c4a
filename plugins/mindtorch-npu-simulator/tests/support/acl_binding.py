"""The runtime's C interface, as far as the tests call it."""

import ctypes
import os
import subprocess
import sys
import time

from mindtorch_npu_simulator import control

# p pointer, z size_t, i int32, u uint32, l int64, L uint64, s text, P pointer to a result.
PROTOTYPES = {
    "aclInit": "s",
    "aclFinalize": "",
    "aclFinalizeReference": "P",
    "aclrtGetVersion": "PPP",
    "aclrtSetDevice": "i",
    "aclrtResetDevice": "i",
    "aclrtResetDeviceForce": "i",
    "aclrtGetDevice": "P",
    "aclrtGetDeviceCount": "P",
    "aclrtGetRunMode": "P",
    "aclrtSynchronizeDevice": "",
    "aclrtSynchronizeDeviceWithTimeout": "i",
    "aclrtDeviceCanAccessPeer": "Pii",
    "aclrtDeviceEnablePeerAccess": "iu",
    "aclrtDeviceDisablePeerAccess": "i",
    "aclrtQueryDeviceStatus": "iP",
    "aclrtDeviceTaskAbort": "iu",
    "aclGetDeviceCapability": "uiP",
    "aclGetCannAttribute": "iP",
    "aclrtSetSysParamOpt": "il",
    "aclrtGetSysParamOpt": "iP",
    "aclrtCtxSetSysParamOpt": "il",
    "aclrtCtxGetSysParamOpt": "iP",
    "aclrtSetDeviceSatMode": "i",
    "aclrtSetOpWaitTimeout": "u",
    "aclrtSetOpExecuteTimeOut": "u",
    "aclrtPeekAtLastError": "i",
    "aclrtGetLastError": "i",
    "aclrtCreateContext": "Pi",
    "aclrtDestroyContext": "p",
    "aclrtSetCurrentContext": "p",
    "aclrtGetCurrentContext": "P",
    "aclrtCreateStream": "P",
    "aclrtCreateStreamWithConfig": "Puu",
    "aclrtDestroyStream": "p",
    "aclrtDestroyStreamForce": "p",
    "aclrtSynchronizeStream": "p",
    "aclrtSynchronizeStreamWithTimeout": "pi",
    "aclrtStreamQuery": "pP",
    "aclrtStreamWaitEvent": "pp",
    "aclrtStreamGetId": "pP",
    "aclrtStreamAbort": "p",
    "aclrtSetStreamFailureMode": "pL",
    "aclrtSetStreamOverflowSwitch": "pu",
    "aclrtCreateEvent": "P",
    "aclrtCreateEventWithFlag": "Pu",
    "aclrtCreateEventExWithFlag": "Pu",
    "aclrtDestroyEvent": "p",
    "aclrtRecordEvent": "pp",
    "aclrtResetEvent": "pp",
    "aclrtQueryEventStatus": "pP",
    "aclrtQueryEvent": "pP",
    "aclrtQueryEventWaitStatus": "pP",
    "aclrtSynchronizeEvent": "p",
    "aclrtSynchronizeEventWithTimeout": "pi",
    "aclrtEventElapsedTime": "Ppp",
    "aclrtEventGetTimestamp": "pP",
    "aclrtMalloc": "Pzu",
    "aclrtMallocAlign32": "Pzu",
    "aclrtMallocCached": "Pzu",
    "aclrtMallocWithCfg": "Pzup",
    "aclrtMemFlush": "pz",
    "aclrtMemInvalidate": "pz",
    "aclrtFree": "p",
    "aclrtMallocHost": "Pz",
    "aclrtFreeHost": "p",
    "aclrtHostRegister": "pLiP",
    "aclrtHostUnregister": "p",
    "aclrtGetMemInfo": "iPP",
    "aclrtPointerGetAttributes": "pP",
    "aclrtMemset": "pziz",
    "aclrtMemsetAsync": "pzizp",
    "aclrtMemcpy": "pzpzi",
    "aclrtMemcpyAsync": "pzpzip",
    "aclrtMemcpy2d": "pzpzzzi",
    "aclrtMemcpy2dAsync": "pzpzzzip",
    "aclrtSubscribeReport": "Lp",
    "aclrtUnSubscribeReport": "Lp",
    "aclrtLaunchCallback": "ppip",
    "aclrtProcessReport": "i",
    "aclrtLaunchHostFunc": "ppp",
    "aclopSetModelDir": "s",
}
TYPES = {
    "p": ctypes.c_void_p,
    "z": ctypes.c_size_t,
    "i": ctypes.c_int32,
    "u": ctypes.c_uint32,
    "l": ctypes.c_int64,
    "L": ctypes.c_uint64,
    "s": ctypes.c_char_p,
    "P": ctypes.c_void_p,
}

H2H, H2D, D2H, D2D, DEFAULT = range(5)
SYNC, TIME_LINE = 1, 8


class AclError(RuntimeError):
    """A call that a test needs failed."""


class Acl:
    """The functions, and objects that `close` destroys if the test has not."""

    def __init__(self):
        self.library = ctypes.CDLL(str(control.root() / "lib64" / "libascendcl.so"))
        for name, kinds in PROTOTYPES.items():
            function = getattr(self.library, name)
            function.argtypes = [TYPES[kind] for kind in kinds]
            function.restype = ctypes.c_int32
            setattr(self, name, function)
        self.library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.library.aclrtGetSocName.restype = ctypes.c_char_p
        self.owned = []

    def message(self):
        text = self.library.aclGetRecentErrMsg()
        return None if text is None else text.decode()

    def soc(self):
        return self.library.aclrtGetSocName()

    def ok(self, name, *arguments):
        code = getattr(self, name)(*arguments)
        if code != 0:
            raise AclError(f"{name}: {code}: {self.message()}")

    def get(self, name, *arguments, kind=ctypes.c_int32, first=False):
        """Call a function whose last (or first) parameter takes its result."""
        result = kind()
        all_of_them = (
            (ctypes.byref(result), *arguments) if first else (*arguments, ctypes.byref(result))
        )
        self.ok(name, *all_of_them)
        return result.value

    def make(self, destroyer, name, *arguments):
        value = self.get(name, *arguments, kind=ctypes.c_void_p, first=True)
        self.owned.append((destroyer, value))
        return value

    def destroy(self, value):
        destroyer = next(d for d, v in self.owned if v == value)
        self.owned.remove((destroyer, value))
        self.ok(destroyer, value)

    def disown(self, value):
        self.owned = [(d, v) for d, v in self.owned if v != value]
        return value

    def stream(self):
        return self.make("aclrtDestroyStream", "aclrtCreateStream")

    def event(self, flags=SYNC):
        return self.make("aclrtDestroyEvent", "aclrtCreateEventExWithFlag", flags)

    def malloc(self, size):
        return self.make("aclrtFree", "aclrtMalloc", size, 0)

    def pinned(self, size):
        return self.make("aclrtFreeHost", "aclrtMallocHost", size)

    def write(self, target, data):
        self.ok("aclrtMemcpy", target, len(data), data, len(data), H2D)

    def read(self, source, size):
        buffer = ctypes.create_string_buffer(size)
        self.ok("aclrtMemcpy", buffer, size, source, size, D2H)
        return buffer.raw

    def fill(self, block, value, size, stream):
        """Queue a fill: the work that tests give to streams."""
        self.ok("aclrtMemsetAsync", block, size, value, size, stream)

    def close(self):
        for _, value in [o for o in self.owned if o[0] == "aclrtDestroyStream"]:
            self.destroy(value)
        self.ok("aclrtSynchronizeDevice")
        for _, value in self.owned.copy():
            self.destroy(value)


def slow(milliseconds, name="aclrtMemsetAsync"):
    """Let each task of that name take so long."""
    control.latency(f"kernel:{name}={milliseconds * 1000}")


def eventually(condition, seconds=100):
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.001)


PRELUDE = """
import ctypes, os, resource, sys
from acl_binding import *
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump of a device's memory would be gigabytes
acl = Acl()
"""


def run_python(code, **environment):
    """Run code in a process of its own, with `acl` made; gives the finished process."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("NPU_SIMULATOR_")}
    variables |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    variables.setdefault("ASCEND_TOOLKIT_HOME", str(control.root()))
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output(code, **environment):
    """Run code that must succeed; gives what it printed."""
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
