"""Data pipes have the paths that libraries import them from: accelerate does so for each stream it shares."""

import importlib

import pytest

import mindtorch_core as torch


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("utils", "IterableWrapper"),
        ("callable", "Mapper"),
        ("callable", "Collator"),
        ("selecting", "Filter"),
        ("grouping", "Batcher"),
        ("grouping", "UnBatcher"),
        ("combining", "Concater"),
        ("combining", "Zipper"),
        ("combinatorics", "Shuffler"),
        ("sharding", "ShardingFilter"),
    ],
)
def test_pipes_lie_where_libraries_import_them_from(module, name):
    pipes = torch.utils.data.datapipes.iter
    found = importlib.import_module(f"mindtorch_core.utils.data.datapipes.iter.{module}")
    assert getattr(found, f"{name}IterDataPipe") is getattr(pipes, name)
