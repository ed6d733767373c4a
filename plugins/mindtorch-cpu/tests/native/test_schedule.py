"""When kernels compute what, and where it stands meanwhile."""

import numpy as np

from mindtorch_cpu.native.program import Program
from mindtorch_cpu.native.schedule import schedule
from mindtorch_cpu.native.tracing import Tracer


def of_rows(function, count):
    tracer = Tracer()
    given = [tracer.input(np.float32) for _ in range(count)]
    graph, _, _ = tracer.finish(function(tracer, *given))
    return Program(graph, ("dense",) * len(graph.arrays), 1, rows=True)


def test_what_is_made_of_arrays_alone_is_computed_where_it_is_used():
    program = of_rows(lambda t, g, y: [np.multiply(np.square(y), t.reduced("row_sum", g))], 2)
    plan = schedule(program)
    before, after = plan.phases
    assert not before.stores
    assert len(before.calls) == len(after.stores) == 1
    assert plan.slots == 1  # of the sums


def test_what_a_reduction_reads_is_computed_before_it():
    def softmax(tracer, x):
        e = np.square(x)
        return [np.multiply(e, tracer.reduced("row_sum", e)), np.negative(x)]

    plan = schedule(of_rows(softmax, 1))
    before, after = plan.phases
    assert len(before.stores) == len(before.calls) == 1
    assert len(after.stores) == 2


def test_a_number_of_numpys_is_one_constant():
    limit = np.float32(3)
    program = of_rows(lambda t, x: [np.where(np.less(limit, x), limit, x)], 1)
    assert program.graph.constants == ("f4",)
    # Equal numbers of other objects are not: the same call with other numbers has the same program.
    program = of_rows(lambda t, x: [np.add(np.multiply(x, np.float32(3)), limit)], 1)
    assert program.graph.constants == ("f4", "f4")
