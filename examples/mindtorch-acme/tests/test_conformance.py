"""The conformance kit, at the level that takes seconds. For more: ``mindtorch verify acme``."""

from mindtorch_core.cli import main


def test_the_kit_passes():
    assert main(["verify", "acme", "--level", "smoke"]) == 0
