"""The samples of the functions that the kit calls."""

from mindtorch_core.dispatch.functions import FUNCTIONS
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing import WITHOUT_SAMPLES
from mindtorch_core.testing.conformance.function_cases import FUNCTION_CALLS


def test_every_function_has_a_sample():
    """A function that has two names is called by one of them."""
    registry.on_demand.define_all()
    names = {}
    for place, packets in FUNCTIONS.items():
        for name, packet in packets.items():
            if packet.python is not None:
                names.setdefault(packet.python, []).append(f"{place}.{name}")
    untested = {n for n in WITHOUT_SAMPLES if n.partition(".")[0] in FUNCTIONS}
    called = {*FUNCTION_CALLS, *untested}
    assert [each for each in names.values() if len(called & set(each)) != 1] == []
    assert called <= {name for each in names.values() for name in each}
