"""A device made of numbers, for the tests of what keeps its memory."""

from mindtorch_npu.allocator import OutOfDeviceMemory


class FakeDevice:
    """Segments at rising addresses, and events that pass when the test says so."""

    def __init__(self, limit=1 << 40):
        self.limit = limit
        self.next = 1 << 20
        self.segments = {}
        self.events = {}
        self.drained = 0
        self.collected = self.sending = False
        self.failing = None

    def _maybe_fail(self, call):
        if self.failing == call:
            self.failing = None
            raise RuntimeError(f"{call} was made to fail")

    def malloc(self, nbytes):
        self._maybe_fail("malloc")
        if sum(self.segments.values()) + nbytes > self.limit:
            raise OutOfDeviceMemory
        address = self.next
        self.next += nbytes + (1 << 20)
        self.segments[address] = nbytes
        return address

    def free(self, address):
        self._maybe_fail("free")
        del self.segments[address]

    def collecting(self):
        return self.collected

    def queue_collected(self):
        if self.sending:
            return False
        self.collected = False
        return True

    def drain(self):
        assert not self.collected, "memory that launches still need would be freed"
        self._maybe_fail("drain")
        self.drained += 1
        for event in self.events:
            self.events[event] = True

    def record(self, stream):
        self._maybe_fail("record")
        event = (stream, len(self.events))
        self.events[event] = False
        return event

    def passed(self, event):
        return self.events[event]

    def info(self):
        return self.limit - sum(self.segments.values()), self.limit
