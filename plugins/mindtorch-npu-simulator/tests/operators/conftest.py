from collections.abc import Iterator

import pytest
from simtoolkit import Toolkit, toolkit

from mindtorch_npu_simulator import control


@pytest.fixture(scope="module", autouse=True)
def opened() -> Iterator[Toolkit]:
    """The toolkit with a device and a stream, for the tests of one file."""
    kit = toolkit()
    kit.open()
    yield kit
    kit.close()


@pytest.fixture(autouse=True)
def clean(opened: Toolkit) -> Iterator[None]:
    """Each test must leave no finding and no object behind."""
    control.findings(clear=True)
    before = control.live()
    yield
    opened.synchronize()
    assert control.findings(clear=True) == []
    assert control.live() == before
