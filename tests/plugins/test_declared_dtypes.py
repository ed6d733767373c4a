"""What the accelerator says of its dtypes is what its backend declares."""

import pytest

pytestmark = pytest.mark.slow


def test_the_dtypes_of_the_accelerator_are_those_that_its_backend_declares(site):
    site.toy("acme")
    site.run(
        """
from mindtorch_core.ecosystem import accelerator
from mindtorch_core.plugins import Numerics
assert torch.float64 in torch.accelerator.get_device_capability()["supported_dtypes"]
declared = {"acme": Numerics(without=("float64", "complex128"))}
accelerator.numerics_of = declared.__getitem__
found = torch.accelerator.get_device_capability("acme:1")
assert list(found) == ["supported_dtypes"]
assert {torch.float32, torch.bfloat16, torch.bool} <= found["supported_dtypes"]
assert not {torch.float64, torch.complex128} & found["supported_dtypes"]
assert torch.accelerator.empty_host_cache() is None
import pytest
with pytest.raises(ValueError, match="cpu doesn't match the current accelerator acme"):
    torch.accelerator.get_device_capability("cpu")
""",
        backends="acme,cpu",
    )
    site.run(
        """
import pytest
with pytest.raises(RuntimeError, match="accelerator device when none is available"):
    torch.accelerator.get_device_capability()
""",
        backends="cpu",
    )
