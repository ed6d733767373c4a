"""A rank that comes to make a group when the others have given up: it hears so, as they do: `late_groups.py ENGINE`."""

import sys
import time
from datetime import timedelta

import pytest

from mindtorch_core import distributed as dist

dist.init_process_group(sys.argv[1], timeout=timedelta(seconds=2))
rank, size = dist.get_rank(), dist.get_world_size()
store = dist.distributed_c10d._get_default_store()
store.set_timeout(timedelta(seconds=50))
WAYS = {
    "members alone": lambda: dist.new_group([0, 1], use_local_synchronization=True),
    "all": lambda: dist.new_group([0, 1]),
}
for way, make in WAYS.items():
    members = range(2 if way == "members alone" else size)
    if rank == 1:
        store.wait([f"heard/{way}/{other}" for other in members if other != 1])
    if rank in members:
        began = time.monotonic()
        with pytest.raises(dist.DistributedError, match=r"rank 1 did not come|given up waiting"):
            make()
        assert time.monotonic() - began < 20
        store.set(f"heard/{way}/{rank}", "")
if rank == 0:  # which serves the store
    store.wait([f"heard/all/{other}" for other in range(size)])
print("done")
