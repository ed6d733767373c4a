"""The conformance kit: what a backend must do, tested op by op from the ops' definitions.

``mindtorch verify acme`` tests an installed backend, and so does pytest itself::

    pytest --pyargs mindtorch_core.testing.conformance --device acme --level core

This is the test file of a backend that wants the same among its own tests::

    from mindtorch_core.testing.conformance import BackendConformance

    class TestAcme(BackendConformance):
        device = "acme"

What a backend is known to fail stands in a text file that `Backend.known_failures` names. A line is
a test's id, such as ``test_forward[erf-bfloat16]``, in which ``*`` stands for anything, and after a
``#`` the reason. Such a test must fail, so the line has to go when the kernel is mended.
"""

from .cases import LEVELS, Case
from .suite import BackendConformance

__all__ = ["LEVELS", "BackendConformance", "Case"]
