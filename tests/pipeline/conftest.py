"""What all tests on pipelines need."""

import pytest

from mindtorch_core.backend import PROGRAMS
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_core.values.devices import row_of


@pytest.fixture(autouse=True)
def _places_are_new():
    forget_sites()  # tests share lines, and one of them must not give up what others do there


@pytest.fixture(params=["compiled", "planned"])
def way(request, monkeypatch):
    """As straight code, and as a pipeline of ops where the backend compiles nothing."""
    if request.param == "planned":
        runtime = row_of("cpu").runtime
        monkeypatch.setattr(type(runtime), "compile", lambda self, program: None)
        PROGRAMS.forget("cpu")
        yield
        PROGRAMS.forget("cpu")
    else:
        yield
