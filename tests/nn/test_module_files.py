"""State dicts and parameters go through files from one library to the other; modules of older pickles are taken."""

import io

import pytest
import torch as oracle
from settings import names, plain, same

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


# A module, the attributes that its older pickles have not, and its use.
OLDER = [
    ("nn.Upsample(scale_factor=1.5)", "recompute_scale_factor", "it(x(1, 1, 4))"),
    *((f"nn.{name}(1)", "dim", "it(x(2, 3))") for name in ("Softmax", "LogSoftmax", "Softmin")),
    ("nn.Conv2d(1, 1, 2, padding=1)", "padding_mode", "it(x(1, 1, 4, 4))"),
    ("nn.ConvTranspose1d(1, 1, 2)", "padding_mode", "it(x(1, 1, 4))"),
    *((f"nn.{name}(2, 3)", "proj_size", "it(x(2, 1, 2))") for name in ("RNN", "LSTM", "GRU")),
    ("nn.MultiheadAttention(4, 2)", "_qkv_same_embed_dim", "it(*[x(2, 1, 4)] * 3)"),
    ("nn.TransformerEncoderLayer(4, 2, 4).eval()", "activation", "it(x(2, 1, 4))"),
    ("nn.TransformerDecoderLayer(4, 2, 4).eval()", "activation", "it(x(2, 1, 4), x(2, 1, 4))"),
    ("nn.Linear(2, 2)", "_state_dict_hooks _state_dict_pre_hooks _load_state_dict_pre_hooks _backward_pre_hooks "
     "_load_state_dict_post_hooks _non_persistent_buffers_set _is_full_backward_hook _forward_hooks_with_kwargs "
     "_forward_hooks_always_called _forward_pre_hooks_with_kwargs", "[it(x(1, 2)), it.state_dict()]"),
]  # fmt: skip


def of_older_pickle(lib, call, absent, use):
    made = names(lib)
    module = made["fill"](eval(call, made))
    state = {name: value for name, value in vars(module).items() if name not in absent.split()}
    taken = type(module).__new__(type(module))
    taken.__setstate__(state)
    return plain(eval(use, {**made, "it": taken}))


@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
@pytest.mark.parametrize(("call", "absent", "use"), OLDER)
def test_modules_of_older_pickles(call, absent, use):
    mine, theirs = (of_older_pickle(lib, call, absent, use) for lib in (torch, oracle))
    assert same(mine, theirs), f"{mine} is not {theirs}"
