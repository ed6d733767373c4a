"""The tests of the contract look at the masks of calls, which tests before them may have left as they are."""

import gc

import pytest

from mindtorch_core.deferred.demand import release_key
from mindtorch_core.dispatch.keys import PROCESS_INCLUDE


@pytest.fixture(autouse=True)
def no_claim_of_another_test() -> None:
    """A failed result that is gone leaves the Pipeline key in the masks until a call finds it needless.

    Its error's traceback may hold it, and be held by it, until garbage is collected: also what a module's
    beginning has put out of the collector's way.
    """
    release_key()
    if PROCESS_INCLUDE[0]:
        gc.unfreeze()
        gc.collect()
        release_key()
