"""The samples of the functions that the kit calls."""

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.operators.define import FUNCTIONS
from mindtorch_core.testing.function_samples import FUNCTION_SAMPLES, WITHOUT_FUNCTION_SAMPLES


def test_every_function_has_a_sample():
    """A function that has two names is called by one of them."""
    registry.rest.define()
    names = {}
    for place, packets in FUNCTIONS.items():
        for name, packet in packets.items():
            if packet.python is not None:
                names.setdefault(packet.python, []).append(f"{place}.{name}")
    called = {*FUNCTION_SAMPLES, *WITHOUT_FUNCTION_SAMPLES}
    assert [each for each in names.values() if len(called & set(each)) != 1] == []
    assert called <= {name for each in names.values() for name in each}
