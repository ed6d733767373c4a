"""Something comes in at a chosen instant: where Python may run a signal handler, and nowhere else.

CPython looks for signals as a function begins, when a call has returned and when a loop turns back. A real
signal finds one of these instants by chance; here they are numbered, so that each can be tried.
"""

import dis
import functools
import sys

CALLS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW"}


@functools.cache
def instants(code):
    """Offsets of the instructions of a function before which a signal handler may run."""
    covered = dis._parse_exception_table(code)
    found, before = set(), None

    def handler(offset):
        return next((e.target for e in covered if e.start <= offset < e.end), None)

    for each in dis.get_instructions(code):
        if before is not None and before.opname == "RESUME":
            found.add(each.offset)
        # An exception counts as the call's own: after the last call of a `try` it is still inside.
        elif before is not None and before.opname in CALLS:
            if handler(before.offset) == handler(each.offset):
                found.add(each.offset)
        # Until 3.12 a loop jumps first and then looks, from 3.13 on the other way round: an exception counts
        # as coming from the jump, which a `try` or `with` around a `while` does not always cover.
        elif each.opname == "JUMP_BACKWARD" and (
            sys.version_info >= (3, 13) or handler(each.offset) == handler(each.argval)
        ):
            found.add(each.offset)
        before = each
    return frozenset(found)


class Instants:
    """Runs programs, with something that comes in at an instant of some functions.

    Attributes:
        seen: how many instants there were in the last run.
        place: where it came in; None if the run had fewer instants.
    """

    def __init__(self, chosen):
        """Make one.

        Args:
            chosen: tells of a code object whether its instants count.
        """
        self.chosen = functools.cache(chosen)
        self.seen, self.place = 0, None

    def run(self, program, at=0, comes=None):
        """Run a program; at an instant, counted from 1, call a function, which may raise."""
        self.seen, self.place = 0, None
        returned_to = None  # the frame that a Python function has just returned to

        def inside(frame, event, arg):
            nonlocal returned_to
            if event == "return":
                # A class, which is written in C, calls `__init__`.
                returned_to = frame.f_back if frame.f_code.co_name != "__init__" else None
                return inside
            after, returned_to = returned_to is frame, None
            if event != "opcode" or frame.f_lasti not in instants(frame.f_code):
                return inside
            if after:  # returning from one written in Python is no such instant
                return inside
            self.seen += 1
            if self.seen == at:
                self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                sys.settrace(None)
                comes()
                return None
            return inside

        def enters(frame, event, arg):
            nonlocal returned_to
            returned_to = None
            if self.place is not None:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = self.chosen(frame.f_code), False
            return inside

        sys.settrace(enters)
        try:
            return program()
        finally:
            sys.settrace(None)


def of_plugin(code):
    """Whether a function is the plugin's, generated ones included."""
    return "mindtorch_npu/" in code.co_filename or code.co_filename.startswith("<aclnn")
