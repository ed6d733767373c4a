"""What tests of ``torch.library`` define is gone after each of them."""

import pytest

from mindtorch_core.dispatch.registry import registry


@pytest.fixture(autouse=True)
def scope():
    """Take back what a test registers."""
    with registry.scope():
        yield
