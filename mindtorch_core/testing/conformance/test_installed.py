"""The tests of the device that ``--device`` names; collected by pytest."""

import pytest

from . import BackendConformance
from .options import CHOSEN

if not CHOSEN.device:
    pytest.skip("no device was chosen by --device", allow_module_level=True)


class TestBackend(BackendConformance):
    """The chosen device at the chosen level."""

    device = CHOSEN.device
    level = CHOSEN.level
