"""What modules refuse: PyTorch's type of error and its words, a program a line."""

from importlib import import_module

import pytest
from module_scenarios import attempt, play, warned
from refused_words import words_are

pt = pytest.importorskip("torch")
pytest.importorskip("pytorchs_biases")


def names(lib):
    """What programs may name."""
    attention = import_module(f"{lib.__name__}.nn.attention")
    import_module(f"{lib.__name__}.nn.attention.bias")

    def changed(module, **attributes):
        vars(module).update(attributes)
        return module

    def after(module, _):
        return module

    def hooked_both_ways(module):
        module.register_backward_hook(print)
        return module.register_full_backward_hook(print)

    def hooked_twice(module, hook):
        module.register_state_dict_post_hook(hook)
        return module._register_state_dict_hook(hook)

    class Stays(lib.nn.LazyLinear):
        def initialize_parameters(self, *args):
            pass

    class Early(lib.nn.Module):
        def __init__(self, value):
            self.value = value

    class OwnBuffers(lib.nn.Module):
        def register_buffer(self, name, tensor):
            pass

    return {
        "Stays": Stays, "Early": Early, "OwnBuffers": OwnBuffers,
        "t": lib, "nn": lib.nn, "F": lib.nn.functional, "A": attention, "R": lib.nn.utils.rnn,
        "changed": changed, "after": after, "hooked_both_ways": hooked_both_ways,
        "hooked_twice": hooked_twice,
    }  # fmt: skip


PROGRAMS = """
    nn.Hardtanh(1.0, 1.0)
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, ())
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (0, 2))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2, 2))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (3, 2))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (5,))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (1.5,))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(2, 4), t.tensor([0, 5]))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(2, 4), t.tensor([0, -1]))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(2, 4), t.tensor([[0, 1]]))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(2, 4), t.tensor([0]))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(4), t.tensor([0]))
    nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))(t.ones(2, 4), t.tensor(0))
    nn.BatchNorm1d(2)(t.ones(2, 2, 2, 2))
    nn.BatchNorm2d(2)(t.ones(2, 2))
    nn.BatchNorm3d(2)(t.ones(2, 2))
    nn.SyncBatchNorm(2)(t.ones(2))
    nn.SyncBatchNorm(2)(t.ones(2, 0))
    nn.BatchNorm1d(2)(t.ones(1, 2))
    nn.Module()(3)
    nn.Sequential(nn.ReLU()) * 1.5
    nn.Sequential(nn.ReLU()) * 0
    nn.Sequential(nn.ReLU()).__imul__(0)
    nn.Sequential(nn.ReLU()).__imul__("a")
    nn.Sequential(nn.ReLU()).insert(0, 3)
    nn.Sequential(nn.ReLU()).insert(2, nn.ReLU())
    nn.Sequential(nn.ReLU()).insert(-2, nn.ReLU())
    nn.Sequential(nn.ReLU()) + nn.ModuleList()
    nn.Sequential(nn.ReLU()).__iadd__(nn.ModuleList())
    nn.Sequential(nn.ReLU())[1]
    nn.Sequential(nn.ReLU())[-2]
    nn.ModuleList([nn.ReLU()])[1]
    nn.ModuleList([nn.ReLU()])[-2]
    nn.ModuleList().extend(3)
    nn.ModuleList([3])
    nn.ModuleDict(3)
    nn.ModuleDict([("a",)])
    nn.ModuleDict([("a", 3)])
    nn.ModuleDict({"a.b": nn.ReLU()})
    nn.ModuleDict({"": nn.ReLU()})
    nn.ModuleDict({"a": nn.ReLU()})["b"]
    nn.ParameterDict().update([("a",)])
    nn.ParameterList([t.ones(1)])[1]
    nn.ParameterList([t.ones(1)])[-2]
    nn.ParameterList().extend(3)
    nn.ParameterList().extend(t.ones(2))
    nn.ParameterList(t.ones(2))
    nn.ConvTranspose1d(1, 1, 1, padding_mode="reflect")
    changed(nn.ConvTranspose2d(1, 1, 1), padding_mode="reflect")(t.ones(1, 1, 2, 2))
    nn.ConvTranspose2d(1, 1, 2)(t.ones(1, 1, 2, 2), (3,))
    nn.ConvTranspose2d(1, 1, 2)(t.ones(1, 1, 2, 2), (1, 1, 1, 3, 3))
    nn.ConvTranspose2d(1, 1, 2)(t.ones(1, 1, 2, 2), (2, 3))
    nn.ConvTranspose2d(1, 1, 2)(t.ones(1, 1, 2, 2), (3, 4))
    nn.LazyConv2d(1, 1)(t.ones(2))
    nn.LazyConv2d(1, 1)(t.ones(1, 1, 1, 2, 2))
    nn.LazyConv1d(2, 1, groups=2)(t.ones(1, 3, 2))
    nn.Conv1d(1, 1, 1, 2, padding="same")
    nn.Conv2d(1, 1, 1, (1, 2), padding="same")
    nn.Conv1d(1, 1, 1, groups=0)
    nn.Conv1d(1, 1, 1, groups=-1)
    nn.Conv1d(3, 2, 1, groups=2)
    nn.Conv1d(2, 3, 1, groups=2)
    nn.Dropout(-0.1)
    nn.Dropout(1.1)
    nn.FeatureAlphaDropout(2)
    nn.Unflatten(1, 3)
    nn.Unflatten(1, (1, 2.0))
    nn.InstanceNorm1d(3, affine=True)(t.ones(1, 2, 4))
    nn.InstanceNorm1d(3)(t.ones(2))
    nn.InstanceNorm2d(3)(t.ones(2))
    nn.InstanceNorm3d(3)(t.ones(2))
    nn.modules.lazy.LazyModuleMixin.initialize_parameters(nn.LazyLinear(1))
    nn.LazyLinear(1)._replicate_for_data_parallel()
    nn.LazyLinear(1).share_memory()
    nn.LazyLinear(1).weight.shape
    nn.Bilinear(0, 1, 1)
    nn.HuberLoss(delta="a")
    nn.HuberLoss(delta=0.0)(t.ones(1), t.ones(1))
    nn.SmoothL1Loss(beta=-1.0)(t.ones(1), t.ones(1))
    nn.MultiMarginLoss(p=3)
    nn.MultiMarginLoss(weight=t.ones(2, 2))
    nn.TripletMarginLoss(margin=0)
    nn.TripletMarginWithDistanceLoss(margin=-1)
    nn.GaussianNLLLoss()(t.ones(2), t.ones(2), t.tensor([-1.0, 1.0]))
    nn.GaussianNLLLoss()(t.ones(2, 2), t.ones(2, 2), t.ones(3))
    nn.BCELoss()(t.tensor([2.0]), t.tensor([1.0]))
    nn.BCELoss()(t.ones(2), t.ones(3))
    nn.CosineEmbeddingLoss()(t.ones(2), t.ones(2), t.ones(2))
    nn.MarginRankingLoss()(t.ones(2), t.ones(2, 2), t.ones(2))
    nn.TripletMarginLoss()(t.ones(2), t.ones(2, 2), t.ones(2))
    nn.L1Loss(reduction="other")(t.ones(1), t.ones(1))
    nn.RNN(2, 3, nonlinearity="other")
    nn.RNN(2, 3, proj_size=2)
    nn.GRU(2, 3, proj_size=2)
    nn.LSTM(2, 3, proj_size=-1)
    nn.LSTM(2, 3, proj_size=3)
    nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 3), t.ones(1, 3)))
    nn.LSTM(2, 3)(t.ones(4, 2), (t.ones(1, 1, 3), t.ones(1, 1, 3)))
    nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(2, 1, 3), t.ones(1, 1, 3)))
    nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 1, 3), t.ones(2, 1, 3)))
    nn.LSTM(2, 3)(t.ones(4, 1, 2), (t.ones(1, 2, 3), t.ones(1, 2, 3)))
    nn.GRU(2, 3)(t.ones(4, 1, 2), t.ones(1, 3))
    nn.GRU(2, 3)(t.ones(4, 2), t.ones(1, 1, 3))
    nn.GRU(2, 3)(t.ones(4, 1, 2), t.ones(1, 2, 3))
    nn.GRU(2, 3)(t.ones(4, 1, 3))
    nn.GRU(2, 3)(t.ones(4))
    nn.GRU(2, 3)(t.ones(1, 1, 1, 2))
    nn.GRU(2, 3)(t.ones(4, 1, 2).double())
    nn.RNN(2, 3)(t.ones(4, 1, 3))
    nn.RNN(2, 3)(t.ones(4, 1, 2), t.ones(1, 2, 3))
    nn.RNN(2, 3)(R.pack_sequence([t.ones(2, 2)]), t.ones(1, 2, 3))
    nn.RNN(2, 3)(R.pack_sequence([t.ones(2, 3)]))
    nn.GRU(2, 3, dropout=-0.5)
    nn.GRU(2, 3, dropout=1.5)
    nn.GRU(2, 3, dropout=True)
    nn.GRU(2, 3.0)
    nn.GRU(2, 0)
    nn.GRU(2, 3, 0)
    nn.GRU(2, 3, num_layers=1.0)
    nn.modules.rnn.RNNBase("other", 2, 3)
    nn.RNNCell(2, 3)(t.ones(1, 1, 2))
    nn.RNNCell(2, 3)(t.ones(2), t.ones(1, 1, 3))
    nn.LSTMCell(2, 3)(t.ones(2), (t.ones(3), t.ones(1, 1, 3)))
    nn.LSTMCell(2, 3)(t.ones(1, 1, 2))
    nn.LSTMCell(2, 3)(t.ones(1, 2), t.ones(1, 3))
    nn.GRUCell(2, 3)(t.ones(1, 1, 2))
    nn.GRUCell(2, 3)(t.ones(2), t.ones(1, 1, 3))
    nn.GRUCell(2, 3)(t.ones(1, 4))
    nn.RNNCell(2, 3, nonlinearity="other")(t.ones(2))
    nn.Softmax2d()(t.ones(2, 2))
    nn.Embedding(2, 2, padding_idx=2)
    nn.Embedding(2, 2, padding_idx=-3)
    nn.Embedding(2, 2, _weight=t.ones(2, 3))
    nn.EmbeddingBag(2, 2, _weight=t.ones(2, 3))
    nn.EmbeddingBag(2, 2, padding_idx=2)
    nn.EmbeddingBag(2, 2, padding_idx=-3)
    nn.Embedding.from_pretrained(t.ones(2))
    nn.EmbeddingBag.from_pretrained(t.ones(2))
    nn.ReLU().load_state_dict(3)
    nn.Linear(1, 1).load_state_dict({})
    nn.Linear(1, 1).load_state_dict({"weight": t.ones(1, 1), "bias": 3})
    nn.Linear(1, 1).load_state_dict({"weight": t.ones(1, 1), "bias": t.ones(2), "more": 3})
    nn.Linear(1, 1).load_state_dict({"weight": t.ones(1, 2), "bias": t.ones(1)}, strict=False)
    nn.BatchNorm1d(1).load_state_dict(nn.BatchNorm1d(2).state_dict())
    nn.BatchNorm1d(1).load_state_dict(after(s := nn.BatchNorm1d(1).state_dict(), s.pop("num_batches_tracked")))
    after(m := nn.ReLU(), m.register_state_dict_post_hook(lambda *a: 3)).state_dict()
    after(m := nn.ReLU(), m.register_load_state_dict_post_hook(lambda *a: 3)).load_state_dict({})
    nn.Transformer(4, 2, 1, 1, 4)(t.ones(2, 1, 4), t.ones(2, 2, 4))
    nn.Transformer(4, 2, 1, 1, 4)(t.ones(2, 1, 4), t.ones(2, 1, 3))
    nn.Transformer(4, 2, 1, 1, 4)(t.ones(2, 1, 3), t.ones(2, 1, 3))
    nn.Transformer(4, 2, 1, 1, 4, batch_first=True)(t.ones(1, 2, 4), t.ones(2, 2, 4))
    nn.TransformerEncoderLayer(4, 2, 4, activation="other")
    nn.TransformerEncoderLayer(4, 3)
    nn.MultiheadAttention(4, 3)
    nn.MultiheadAttention(0, 1)
    nn.MultiheadAttention(4, 0)
    nn.MultiheadAttention(4, 2)(t.ones(4), t.ones(4), t.ones(4))
    nn.MultiheadAttention(4, 2)(t.ones(2, 1, 4), t.ones(2, 4), t.ones(2, 4))
    nn.MultiheadAttention(4, 2)(t.ones(2, 1, 3), t.ones(2, 1, 3), t.ones(2, 1, 3))
    nn.MultiheadAttention(4, 2)(*[t.ones(2, 1, 4)] * 3, attn_mask=t.ones(2, 2, dtype=t.int64))
    nn.MultiheadAttention(4, 2)(*[t.ones(2, 1, 4)] * 3, key_padding_mask=t.ones(1, 2, dtype=t.int64))
    nn.ReLU().set_submodule("", nn.ReLU())
    nn.Sequential(nn.ReLU()).set_submodule("0", 3)
    nn.Sequential(nn.ReLU()).set_submodule("1", nn.ReLU(), strict=True)
    nn.Sequential(nn.ReLU()).set_submodule("1.a", nn.ReLU())
    nn.Linear(1, 1).get_submodule("weight")
    nn.Linear(1, 1).get_submodule("other")
    nn.Linear(1, 1).get_parameter("in_features")
    nn.Linear(1, 1).get_parameter("other")
    nn.BatchNorm1d(1).get_buffer("weight")
    nn.BatchNorm1d(1).get_buffer("other")
    nn.Linear(1, 1).register_parameter(3, None)
    nn.Linear(1, 1).register_parameter("a.b", None)
    nn.Linear(1, 1).register_parameter("", None)
    nn.Linear(1, 1).register_parameter("in_features", None)
    nn.Linear(1, 1).register_parameter("a", t.ones(1))
    nn.Linear(1, 1).register_parameter("a", nn.Parameter(t.ones(1)) * 2)
    nn.Linear(1, 1).register_buffer(3, None)
    nn.Linear(1, 1).register_buffer("a.b", None)
    nn.Linear(1, 1).register_buffer("", None)
    nn.Linear(1, 1).register_buffer("in_features", None)
    nn.Linear(1, 1).register_buffer("a", 3)
    nn.Linear(1, 1).add_module(3, nn.ReLU())
    nn.Linear(1, 1).add_module("a.b", nn.ReLU())
    nn.Linear(1, 1).add_module("", nn.ReLU())
    nn.Linear(1, 1).add_module("in_features", nn.ReLU())
    nn.Linear(1, 1).add_module("a", 3)
    setattr(nn.Linear(1, 1), "weight", t.ones(1, 1))
    setattr(nn.Linear(1, 1), "weight", 3)
    setattr(nn.BatchNorm1d(1), "running_mean", 3)
    setattr(nn.Sequential(nn.ReLU()), "0", 3)
    delattr(nn.Linear(1, 1), "other")
    nn.Linear(1, 1).other
    nn.Linear(1, 1).train(3)
    nn.CrossMapLRN2d(2)(t.ones(1, 1))
    nn.PixelShuffle(2)(t.ones(1, 3, 2, 2))
    nn.PixelUnshuffle(2)(t.ones(1, 1, 3, 2))
    nn.ChannelShuffle(2)(t.ones(1, 3, 2, 2))
    nn.FractionalMaxPool2d(2)
    nn.FractionalMaxPool2d(2, 1, 0.5)
    nn.FractionalMaxPool2d(2, output_ratio=1.5)
    nn.FractionalMaxPool3d(2)
    nn.FractionalMaxPool3d(2, 1, 0.5)
    nn.FractionalMaxPool3d(2, output_ratio=(0.5, 0.5, 1.0))
    nn.FractionalMaxPool2d(2, output_ratio=(0.0, 0.5))
    nn.Upsample(scale_factor=2, mode="other")(t.ones(1, 1, 2))
    nn.Upsample()(t.ones(1, 1, 2))
    nn.Upsample(3, 2.0)(t.ones(1, 1, 2))
    nn.init.calculate_gain("leaky_relu", "a")
    nn.init.calculate_gain("leaky_relu", True)
    nn.init.calculate_gain("other")
    nn.init.eye_(t.ones(2))
    nn.init.dirac_(t.ones(2, 2))
    nn.init.dirac_(t.ones(3, 2, 2), 2)
    nn.init.xavier_uniform_(t.ones(2))
    nn.init.kaiming_normal_(t.ones(2, 2), mode="other")
    nn.init.orthogonal_(t.ones(2))
    nn.init.sparse_(t.ones(2), 0.1)
    A.bias.causal_upper_left(2)
    A.bias.causal_lower_right(2, 2, 2)
    A.bias.CausalBias(3, 2, 2)
    nn.Linear(1, 1).to(t.int64)
    nn.Linear(1, 1).type(3)
    hooked_both_ways(nn.Linear(1, 1))
    hooked_twice(nn.ReLU(), lambda *a: None)
    Stays(2)(t.ones(1, 1))
    Early(nn.Parameter(t.ones(1)))
    Early(nn.Buffer(t.ones(1)))
    Early(nn.ReLU())
    setattr(OwnBuffers(), "a", nn.Buffer(t.ones(1), persistent=False))
    nn.CircularPad1d(1)(t.ones(2, 2, 2, 2))
    nn.CircularPad2d(1)(t.ones(2, 2))
    nn.CircularPad3d(1)(t.ones(2, 2))
    nn.ParameterDict().popitem()
    nn.RNN(2, 3)(t.ones(2))
    nn.RNN(2, 3)(R.pack_sequence([t.ones(2)]))
    nn.GRU(2, 3)(t.ones(2))
    nn.LinearCrossEntropyLoss(2, 3, label_smoothing=2.0)
    nn.LinearCrossEntropyLoss(2, 3, weight=t.ones(2))
"""
# Words of our own, and PyTorch's type of error.
OWN = {
    "nn.ModuleDict([3])": "ModuleDict update sequence element #0 should be Iterable; is int",
    "nn.ParameterDict().update(3)":
        "ParameterDict.update should be called with an iterable of key/value pairs, but got int",
    "nn.ParameterDict().update([3])": "ParameterDict update sequence element #0 should be Iterable; is int",
    'nn.Conv1d(1, 1, 1, padding="other")':
        "Invalid padding string 'other', should be one of ('same', 'valid')",
    'nn.Conv1d(1, 1, 1, padding_mode="other")':
        "padding_mode must be one of ('zeros', 'reflect', 'replicate', 'circular'), but got padding_mode='other'",
    **{f"nn.Linear(1, 1).to({given})":
       f"to() received an invalid combination of arguments - got ({told}), but expected (device=None, dtype=None, "
       "non_blocking=False) with a torch.dtype such as torch.float32, or (tensor, non_blocking=False)"
       for given, told in {
           '"cpu", "cpu"': "str, str", 'device="cpu", other=3': "device=str, other=int", 'dtype="cpu"': "dtype=str",
           '"cpu", t.float32, False, 3': "str, dtype, bool, int", "memory_format=3": "memory_format=int",
           "t.ones(1), dtype=t.float32": "Tensor, dtype=dtype", '"cpu", tensor=t.ones(1)': "str, tensor=Tensor",
       }.items()},
    "nn.ReLU().get_extra_state()": "ReLU has no extra state: define get_extra_state()",
    "nn.ReLU().set_extra_state(3)": "ReLU has no extra state: define set_extra_state()",
    **{f"nn.MultiheadAttention(4, 2)(*[t.ones(2, 1, 4)] * 3, {given})": told for given, told in {
        "attn_mask=t.ones(3, 3)": "The shape of the 2D attn_mask is [3, 3], but should be [2, 2].",
        "attn_mask=t.ones(3, 2, 2)": "The shape of the 3D attn_mask is [3, 2, 2], but should be [2, 2, 2].",
        "is_causal=True": "Need attn_mask if specifying the is_causal hint: pass a causal mask as well",
        "key_padding_mask=t.ones(2, 2) > 0": "Expected key_padded_mask to have shape [1, 2], but got [2, 2]",
    }.items()},
    "nn.LocalResponseNorm(2)(t.ones(1, 1))":
        "Expected 3D or higher dimensionality input (got 2 dimensions)",
    "nn.Fold(2, 2)(t.ones(1, 3, 1))":
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
        "input.size(1)=3 and kernel_size=[2, 2].",
    "A.sdpa_kernel(3).__enter__()":
        "Backend must be an instance of SDPBackend or a list of SDPBackend",
}  # fmt: skip

test_words = words_are(PROGRAMS, OWN, names)


@pytest.mark.parametrize(
    "words",
    [{"min_value": -2.0}, {"max_value": 3.0}, {"min_value": -2.0, "max_value": 3.0}, {"min_value": 5.0},
     {"min_value": 0.0}, {"max_value": 0.0}, {"min_val": 1.0}, {}],
    ids=repr,
)  # fmt: skip
def test_limits_by_their_names_of_old(words):
    def run(t):
        made = []
        told = warned(lambda: made.append(attempt(lambda: repr(t.nn.Hardtanh(**words)))))
        return [told, made]

    play(run)


@pytest.mark.parametrize("reduce", [None, True, False])
@pytest.mark.parametrize("average", [None, True, False])
@pytest.mark.parametrize("loss", ["MSELoss", "CrossEntropyLoss", "KLDivLoss"])
def test_reductions_by_their_words_of_old(loss, average, reduce):
    def run(t):
        made = []
        kind = getattr(t.nn, loss)
        told = warned(lambda: made.append(kind(size_average=average, reduce=reduce)))
        return [told, [m.reduction for m in made]]

    play(run)
