"""What all tests on pipelines need."""

import pytest

from mindtorch_core.deferred.replay.sites import forget_sites


@pytest.fixture(autouse=True)
def _places_are_new():
    forget_sites()  # tests share lines, and one of them must not give up what others do there
