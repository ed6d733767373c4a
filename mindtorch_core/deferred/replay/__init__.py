"""Replay: a block that comes again follows the trace of its last run.

Each recorder compares its call with the next op that is expected: the same op at the same line, with
the same operands. While they match nothing is looked up, described or planned: the result is
a tensor made from what is known, and the flush calls what the backend has compiled. At the first
difference what was followed becomes ordinary entries, and recording goes on as if nothing had been
known.
"""
