"""State dicts and parameters go through files from one library to the other; modules of older pickles are taken."""

import io

import pytest
import torch as oracle
from module_scenarios import attempt, fill, numbers, play, values
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


@pytest.mark.parametrize("features", [3, 4])
def test_lazy_layers_whose_shapes_came_from_a_file(features):
    def run(t):
        m = t.nn.LazyLinear(2)
        m.load_state_dict(fill(t, t.nn.Linear(3, 2)).state_dict())
        before = (m.in_features, m.has_uninitialized_params())
        told = attempt(lambda: numbers(m(values(t, 5, features))))
        return [before, told, m.in_features, type(m).__name__]

    play(run)


@pytest.mark.parametrize("version", [None, 1, 2])
@pytest.mark.parametrize("track", [True, False])
@pytest.mark.parametrize("left", [("running_mean", "running_var"), ("running_mean",), ()])
def test_statistics_in_files_of_instance_norms(left, track, version):
    def run(t):
        held = fill(t, t.nn.InstanceNorm1d(3, affine=True, track_running_stats=True)).state_dict()
        some = type(held)((k, v) for k, v in held.items() if "running" not in k or k in left)
        some._metadata = {"": {} if version is None else {"version": version}}
        m = t.nn.InstanceNorm1d(3, affine=True, track_running_stats=track)
        kind, _ = attempt(lambda: m.load_state_dict(some))
        return [kind, numbers(m.weight) if kind == "returned" else None]

    play(run)


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("told", [True, False])
def test_a_buffer_goes_by_the_modules_own_register_buffer(told, persistent):
    def run(t):
        class Own(t.nn.Module):
            if told:

                def register_buffer(self, name, tensor, persistent=True):
                    super().register_buffer(name, tensor, persistent)
            else:

                def register_buffer(self, name, tensor):
                    super().register_buffer(name, tensor)

        m = Own()
        kind, _ = attempt(lambda: setattr(m, "b", t.nn.Buffer(t.ones(2), persistent=persistent)))
        return [kind, sorted(m.state_dict()), [name for name, _ in m.named_buffers()]]

    play(run)
