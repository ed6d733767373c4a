"""Installing the bare backend in this process, as pip would: its package and its entry point."""

import contextlib
import sys
from pathlib import Path

from mindtorch_core import plugins

METADATA = "Metadata-Version: 2.1\nName: mindtorch-bare\nVersion: 1.0\n"


def install(folder):
    """Make the device ``bare`` available, with an entry point in a folder of its own."""
    info = Path(folder) / "mindtorch_bare-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text("[mindtorch.backends]\nbare = bare_backend.plugin\n")
    sys.path += [str(folder), str(Path(__file__).parents[1])]
    plugins.loader.rediscover()


@contextlib.contextmanager
def loaded(folder):
    """The device ``bare`` inside the block; afterwards it was never there."""
    path = sys.path[:]
    install(folder)
    try:
        plugins.load("bare")
        yield
        plugins.unload("bare")
    finally:
        sys.path[:] = path
        plugins.loader.rediscover()
