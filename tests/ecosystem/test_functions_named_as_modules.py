"""Imports of modules that a package has a function of the same name of leave the function there."""

import importlib

import pytest

PATHS = [
    "nn.parallel.data_parallel",
    "nn.parallel.parallel_apply",
    "nn.parallel.replicate",
    "distributed._composable.contract",
    "distributed._composable.replicate",
    "distributed._composable.fsdp.fully_shard",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("root", ["mindtorch_core", "mindtorch", "torch"])
def test_the_function_stays(root, path):
    if root == "torch":
        pytest.importorskip("torch")
    package, _, name = path.rpartition(".")
    module = importlib.import_module(f"{root}.{path}")
    kept = getattr(importlib.import_module(f"{root}.{package}"), name)
    assert callable(kept)
    assert kept is getattr(module, name)
