"""What is said of an operation that another rank's death may have ended: news of it may come late."""

from types import SimpleNamespace

import pytest

from mindtorch_core.communication import DistributedError
from mindtorch_core.distributed import HashStore
from mindtorch_npu.hccl import news


class Call:
    """A call that hears, when it has asked often enough, that rank 1 has died."""

    ranks, rank = (0, 1), 0

    def __init__(self, heard_at):
        self.left = heard_at

    def check(self):
        self.left -= 1
        if not self.left:
            raise self.error("rank 1 is gone", 1)

    def error(self, text, rank, by_rank=None):
        return DistributedError(text, rank=rank, op="all_reduce", number=1, by_rank=by_rank or {})


@pytest.mark.parametrize(("heard_at", "text", "rank"), [(5, "gone", 1), (200, "HCCL failed", None)])
def test_a_death_is_waited_for_before_nobody_is_blamed(monkeypatch, heard_at, text, rank):
    seconds = iter(range(1000))  # a machine so slow that a second goes by between two looks
    monkeypatch.setattr(news, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    error = RuntimeError("remote")
    error.code = 21
    with pytest.raises(DistributedError, match=text) as caught:
        for _ in news.blamed(Call(heard_at), error, HashStore()):
            pass
    assert caught.value.rank == rank
