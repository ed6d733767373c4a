"""``torch.testing._internal.distributed.fake_pg``: a store for groups of the backend ``fake``."""

from ....communication.fake import FakeStore

__all__ = ["FakeStore"]
