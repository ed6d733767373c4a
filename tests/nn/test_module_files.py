"""State dicts and parameters go through files from one library to the other."""

import io

import torch as oracle

import mindtorch_core as torch


def test_state_dicts_and_parameters_go_both_ways_through_files():
    theirs, mine = oracle.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    file = io.BytesIO()
    oracle.save({"state": theirs.state_dict(), "p": theirs.weight}, file)
    file.seek(0)
    loaded = torch.load(file)
    mine.load_state_dict(loaded["state"])
    assert isinstance(loaded["p"], torch.nn.Parameter)
    assert mine.weight.tolist() == theirs.weight.tolist() == loaded["p"].tolist()

    file = io.BytesIO()
    torch.save({"state": mine.state_dict(), "p": mine.weight}, file)
    file.seek(0)
    back = oracle.load(file, weights_only=True)
    assert isinstance(back["p"], oracle.nn.Parameter)
    assert back["p"].requires_grad
    assert back["p"].tolist() == mine.weight.tolist()
    theirs.load_state_dict(back["state"])
    assert back["state"]._metadata == mine.state_dict()._metadata
