"""Plugins with random faults: what is wrong is told, nothing stays of them, and the CPU goes on working."""

import pytest
from attack import SECONDS, alone, first_seed

pytestmark = pytest.mark.slow


def test_malformed_plugins(site):
    site.backend("vex", "")
    script = """
    import sys
    sys.path.insert(0, sys.argv[3])
    import malformed_plugins as m
    m.main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
    """
    alone(script, first_seed(), SECONDS or 6, site.folder)
