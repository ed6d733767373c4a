"""Lets pytest find the conformance kit's options: ``pytest --pyargs mindtorch_core.testing.conformance``.

pytest imports this module in every run where mindtorch-core is installed. It stands outside of
``mindtorch_core`` so that such a run neither imports the framework nor gets options of it.
"""

from __future__ import annotations

from typing import Any

_KIT = "mindtorch_core.testing.conformance"


def pytest_load_initial_conftests(early_config: Any, args: list[str]) -> None:
    """Load the kit's plugin if the kit is what pytest was asked for."""
    if any(arg.partition("::")[0] == _KIT for arg in args):
        early_config.pluginmanager.import_plugin(f"{_KIT}.plugin")
