"""Every setting of modules, optimizers, schedulers and their helpers away from its default, beside PyTorch's.

What lies beyond a limit is refused as PyTorch refuses it; all else gives PyTorch's numbers.
"""

import pytest

pytest.importorskip("torch", reason="PyTorch is the oracle")

from settings import changed_in_two, differing

# What differs on purpose, by function and setting.
KNOWN = {
    ("nn.CrossMapLRN2d", "alpha"): "PyTorch keeps the first channel in all windows",
    ("nn.CrossMapLRN2d", "k"): "as well",
    ("nn.CrossMapLRN2d", "size"): "as well",
    ("nn.FractionalMaxPool2d", "kernel_size"): "PyTorch gives -inf where nothing is looked at",
    ("nn.FractionalMaxPool3d", "kernel_size"): "PyTorch's windows in three dimensions need one element more",
    ("nn.Embedding", "num_embeddings"): "an index that is out of bounds is an IndexError here",
    ("nn.EmbeddingBag", "num_embeddings"): "as well",
    ("nn.EmbeddingBag", "embedding_dim"): "PyTorch has no bags of empty rows",
    ("nn.EmbeddingBag", "include_last_offset"): "PyTorch divides by rows that it does not add",
    ("nn.Bilinear", "in1_features"): "PyTorch's error is that of memory",
    ("nn.CrossEntropyLoss", "label_smoothing"): "PyTorch takes a negative one for none",
    ("F.group_norm", "num_groups"): "PyTorch divides by zero",
    ("F.max_unpool1d", "kernel_size"): "an index beyond the volume is a RuntimeError here",
    ("F.max_unpool1d", "stride"): "as well",
    ("F.max_unpool1d", "padding"): "as well",
    ("U.rnn.pack_padded_sequence", "batch_first"): "PyTorch reads steps that the input has not",
    **{(f"nn.{lazy}ConvTranspose{n}d", s): "the library beneath PyTorch refuses empty ones"
       for lazy in ("", "Lazy") for n in (1, 2, 3) for s in ("out_channels", "kernel_size")},
}  # fmt: skip
FLAG = {"align_corners": (True, False)}
PADDING = {
    "padding_mode": ("zeros", "reflect", "replicate", "circular"),
    "padding": ("same", "valid", 0, 1, 2, -1),
}
REDUCTION = {"reduction": ("none", "mean", "sum")}
SIZES = {"size": (7, (5, 6), None), "scale_factor": (0.5, 2.0, (1.5, 2.5), None),
         "mode": ("nearest", "bilinear", "bicubic", "area", "nearest-exact"), "align_corners": (True, False, None)}  # fmt: skip
FORWARD = (
    "[repr(it), attributes(it), fill(known(it, {0}))({0}), it.eval()({0}), list(it.state_dict())]"
)


def on(inputs, *calls, **choices):
    """Modules that are given the same inputs."""
    return [(call, FORWARD.format(inputs), choices) for call in calls]


def of(use, *calls, **choices):
    """Calls whose results are used alike."""
    return [(call, use, choices) for call in calls]


MODULES = [
    *on("x(2, 4)", "nn.Linear(4, 3)", "nn.Dropout(0.3)", "nn.AlphaDropout(0.3)", "nn.FeatureAlphaDropout(0.3)",
        "nn.RMSNorm(4)", "nn.LayerNorm(4)", "nn.Flatten()", "nn.Unflatten(1, (2, 2))", "nn.LazyLinear(3)",
        "nn.BatchNorm1d(4)", "nn.LazyBatchNorm1d()", "nn.Softmax(1)", "nn.LogSoftmax(1)", "nn.Softmin(1)", "nn.GLU()",
        "nn.ELU()", "nn.CELU()", "nn.SELU()", "nn.LeakyReLU()", "nn.PReLU()", "nn.Hardshrink()", "nn.Softshrink()",
        "nn.Hardtanh()", "nn.Threshold(0.1, 0.2)", "nn.Softplus()", "nn.GELU()", "nn.ReLU6()", "nn.SiLU()", "nn.Mish()",
        "nn.Hardswish()", "nn.Hardsigmoid()", "nn.RReLU()", "nn.Tanhshrink()", approximate=("none", "tanh")),
    *on("x(2, 4, 6)", "nn.Conv1d(4, 2, 3)", "nn.ConvTranspose1d(4, 2, 3)", "nn.LazyConv1d(2, 3)",
        "nn.LazyConvTranspose1d(2, 3)", **PADDING),
    *on("x(2, 4, 6)", "nn.MaxPool1d(2)", "nn.AvgPool1d(2)", "nn.LPPool1d(2, 2)", "nn.AdaptiveAvgPool1d(3)",
        "nn.AdaptiveMaxPool1d(3)", "nn.InstanceNorm1d(4)", "nn.LazyInstanceNorm1d()", "nn.GroupNorm(2, 4)",
        "nn.Dropout1d(0.3)", "nn.ZeroPad1d(1)", "nn.ConstantPad1d(1, 0.5)", "nn.ReflectionPad1d(1)",
        "nn.ReplicationPad1d(1)", "nn.CircularPad1d(1)", "nn.LocalResponseNorm(2)", "nn.Softmax2d()"),
    *on("x(2, 4, 5, 6)", "nn.Conv2d(4, 2, 3)", "nn.ConvTranspose2d(4, 2, 3)", "nn.LazyConv2d(2, 3)",
        "nn.LazyConvTranspose2d(2, 3)", **PADDING),
    *on("x(2, 4, 5, 6)", "nn.MaxPool2d(2)", "nn.AvgPool2d(2)", "nn.LPPool2d(2, 2)", "nn.AdaptiveAvgPool2d(3)",
        "nn.AdaptiveMaxPool2d(3)", "nn.FractionalMaxPool2d(2, 3)", "nn.BatchNorm2d(4)", "nn.InstanceNorm2d(4)",
        "nn.Dropout2d(0.3)", "nn.ZeroPad2d(1)", "nn.ConstantPad2d(1, 0.5)", "nn.ReflectionPad2d(1)",
        "nn.ReplicationPad2d(1)", "nn.CircularPad2d(1)", "nn.PixelShuffle(2)", "nn.ChannelShuffle(2)",
        "nn.Unfold(2)", "nn.CrossMapLRN2d(2)", "nn.UpsamplingNearest2d(7)", "nn.UpsamplingBilinear2d(7)",
        "nn.Upsample(7)", **SIZES),
    *on("x(1, 2, 4, 6)", "nn.PixelUnshuffle(2)", "nn.CrossMapLRN2d(3, 1.0)"),
    *(case for size in (8, 9, 10, 11) for case in on(f"x(2, 4, 5), [{size}]", "nn.ConvTranspose1d(4, 2, 3, 2, 1)")),
    *(case for size in (16, 17, 19, 20) for case in on(f"x(1, 4, 3, 5), (1, 3, 9, {size})", "nn.ConvTranspose2d(4, 3, 3, (2, 3), 0, 1, dilation=(2, 2))")),
    *on("x(2, 8, 9)", "nn.Fold((4, 4), 2)", "nn.Bilinear(9, 9, 2)"),
    *on("x(1, 4, 3, 4, 5)", "nn.Conv3d(4, 2, 2)", "nn.ConvTranspose3d(4, 2, 2)", **PADDING),
    *on("x(1, 4, 3, 4, 5)", "nn.MaxPool3d(2)", "nn.AvgPool3d(2)", "nn.LPPool3d(2, 2)", "nn.AdaptiveAvgPool3d(2)",
        "nn.AdaptiveMaxPool3d(2)", "nn.FractionalMaxPool3d(1, 2)", "nn.BatchNorm3d(4)", "nn.InstanceNorm3d(4)",
        "nn.Dropout3d(0.3)", "nn.ZeroPad3d(1)", "nn.ConstantPad3d(1, 0.5)", "nn.ReplicationPad3d(1)"),
    *on("n(0, 3, 1)", "nn.Embedding(4, 3)"),
    *on("n(0, 3, 1), n(0, 2)", "nn.EmbeddingBag(4, 3)", mode=("sum", "mean", "max")),
    *on("x(2, 4), x(2, 4).flip(0)", "nn.CosineSimilarity()", "nn.PairwiseDistance()"),
    *on("x(2, 4), x(2, 3)", "nn.Bilinear(4, 3, 2)"),
    *on("x(2, 4), x(2, 3)", "nn.RNNCell(4, 3)", nonlinearity=("tanh", "relu")),
    *on("x(2, 4)", "nn.GRUCell(4, 3)", "nn.LSTMCell(4, 3)"),
    *on("x(5, 2, 4)", "nn.RNN(input_size=4, hidden_size=3, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, dropout=0.0, bidirectional=False)",
        "nn.GRU(input_size=4, hidden_size=3, num_layers=2, bias=True, batch_first=False, dropout=0.0, bidirectional=False)",
        "nn.LSTM(input_size=4, hidden_size=3, num_layers=2, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0)",
        nonlinearity=("tanh", "relu")),
    *on("x(3, 2, 4), x(3, 2, 4), x(3, 2, 4)", "nn.MultiheadAttention(4, 2)"),
    *on("x(3, 2, 4)", "nn.TransformerEncoderLayer(4, 2, 5)", activation=("relu", "gelu")),
    *on("x(3, 2, 4), x(2, 2, 4)", "nn.TransformerDecoderLayer(4, 2, 5)", activation=("relu", "gelu")),
]  # fmt: skip

LOSSES = [
    *on("x(3, 4), x(3, 4).abs()", "nn.L1Loss()", "nn.MSELoss()", "nn.SmoothL1Loss()", "nn.HuberLoss()", "nn.KLDivLoss()",
        "nn.PoissonNLLLoss()", "nn.BCEWithLogitsLoss()", "nn.MultiLabelSoftMarginLoss()", "nn.SoftMarginLoss()",
        "nn.HingeEmbeddingLoss()", **REDUCTION),
    *on("x(3, 4).abs(), x(3, 4).flip(0).abs()", "nn.BCELoss()", **REDUCTION),
    *on("x(3, 4), x(3, 4).flip(0), x(3, 4).abs()", "nn.GaussianNLLLoss()", "nn.TripletMarginLoss()",
        "nn.TripletMarginWithDistanceLoss()", **REDUCTION),
    *on("x(3), x(3).flip(0), n(1, -1, 1)", "nn.MarginRankingLoss()", **REDUCTION),
    *on("x(3, 4), x(3, 4).flip(0), n(1, -1, 1)", "nn.CosineEmbeddingLoss()", **REDUCTION),
    *on("x(3, 4).log_softmax(1), n(1, 0, 3)", "nn.NLLLoss()", "nn.CrossEntropyLoss()", "nn.MultiMarginLoss()", **REDUCTION),
    *on("x(6, 2, 4).log_softmax(2), n(1, 2, 2, 1, 2, 2).reshape(2, 3), n(6, 5), n(3, 2)", "nn.CTCLoss()", blank=(0, 3, 4, -1), **REDUCTION),
    *on("x(3, 4), n(1, 0, 3)", "nn.AdaptiveLogSoftmaxWithLoss(4, 5, (2,))",
        "nn.AdaptiveLogSoftmaxWithLoss(4, 5, (1, 4), 2.0)"),
]  # fmt: skip

STEPS = "[p for p in it.param_groups[0]['params'] for k in range(3) if [setattr(p, 'grad', x(2, 3) * (k - 1.5)), it.step()]]"
OPTIMIZERS = of(
    STEPS,
    *(f"optim.{name}([x(2, 3).requires_grad_()]{more})" for name, more in {
        "SGD": ", 0.1", "Adam": "", "AdamW": "", "Adamax": "", "NAdam": "", "RAdam": "", "Adagrad": "", "Adadelta": "",
        "RMSprop": "", "Rprop": "", "ASGD": "", "Adafactor": "", "Muon": "",
    }.items()),
    adjust_lr_fn=("original", "match_rms_adamw", None),
)  # fmt: skip

O = "optim.SGD([x(2).requires_grad_()], 0.5, momentum=0.9)"
RATES = "[[g['lr'], g['momentum']] for _ in range(8) for g in it.optimizer.param_groups if [it.optimizer.step(), it.step()]]"
SCHEDULERS = of(
    RATES,
    *(f"S.{name}({O}, {more})" for name, more in {
        "StepLR": "3", "MultiStepLR": "[2, 4]", "ConstantLR": "", "LinearLR": "", "ExponentialLR": "0.5",
        "PolynomialLR": "", "CosineAnnealingLR": "5", "CosineAnnealingWarmRestarts": "3",
        "CyclicLR": "0.1, 0.6, 2", "OneCycleLR": "0.6, 8", "LambdaLR": "lambda e: 0.5**e", "MultiplicativeLR": "lambda e: 0.5",
    }.items()),
    anneal_strategy=("cos", "linear"),
    mode=("triangular", "triangular2", "exp_range"),
    scale_mode=("cycle", "iterations"),
    last_epoch=(-1, 0, 3),
    scale_fn=(None,),
)  # fmt: skip
PLATEAU = of(
    "[it.optimizer.param_groups[0]['lr'] for loss in (3.0, 2.0, 2.0, 1.9999, 2.5, 2.5, 1.0, 2.0, 2.0, 2.0) if [it.step(loss)]]",
    f"S.ReduceLROnPlateau({O})", f"S.ReduceLROnPlateau({O}, patience=1)", f"S.ReduceLROnPlateau({O}, 'max', patience=1)",
    mode=("min", "max"), threshold_mode=("rel", "abs"),
)  # fmt: skip

WRITTEN = [
    *of("it", "init.uniform_(x(3, 4))", "init.normal_(x(3, 4))",
        "init.constant_(x(3, 4), 0.5)", "init.xavier_uniform_(x(3, 4))", "init.xavier_normal_(x(3, 4))",
        "init.kaiming_uniform_(x(3, 4))", "init.kaiming_normal_(x(3, 4))", "init.orthogonal_(x(3, 4))",
        "init.sparse_(x(3, 4), 0.5)", "init.dirac_(x(4, 2, 3))", mode=("fan_in", "fan_out"),
        nonlinearity=("linear", "relu", "leaky_relu", "tanh", "selu", "sigmoid", "conv2d")),
    *of("it", "init.trunc_normal_(x(3, 4))", a=(-2.0, -0.5), b=(2.0, 0.5), std=(1.0, 3.0)),
    *of("it", "init.calculate_gain('leaky_relu')", nonlinearity=("linear", "relu", "leaky_relu", "tanh", "selu", "conv1d")),
]  # fmt: skip
LOADED = [
    *of("[i for _ in range(2) for i in it]", "data.RandomSampler(range(5))", "data.SequentialSampler(range(5))",
        "data.SubsetRandomSampler([1, 4, 2])", "data.WeightedRandomSampler([0.1, 2.0, 1.0], 4)",
        "data.BatchSampler(range(5), 2, False)", "data.DataLoader(range(5))", "data.DataLoader(range(5), 2)",
        "data.DataLoader(range(5), 2, True)", "data.DataLoader(range(5), 2, drop_last=True)",
        "data.Subset(range(5), [1, 2])", "data.DistributedSampler(range(5), 2, 1)",
        "data.DistributedSampler(range(5), 2, 0, shuffle=False)",
        num_workers=(0, -1), multiprocessing_context=("spawn", 3), timeout=(0, -1), collate_fn=(None,), num_samples=(None, 0, 1, 7, -1), prefetch_factor=(None, 1, -1, 2)),
    *of("[len(part) for part in it]", "data.random_split(range(10), [3, 7])", "data.random_split(range(10), [0.25, 0.75])"),
]  # fmt: skip
HELPERS = [
    *of("it", "U.rnn.pad_sequence([x(2, 3), x(4, 3)])", "U.rnn.pack_padded_sequence(x(4, 2, 3), n(4, 2))",
        "U.rnn.pack_sequence([x(3, 2), x(2, 2)])", "U.parameters_to_vector([x(2), x(2, 2)])",
        "U.rnn.unpad_sequence(x(4, 2, 3), n(4, 2))", padding_side=("left", "right")),
    *of("[p.grad for p in [x(3).requires_grad_()] if [setattr(p, 'grad', x(3)), it]]", "U.get_total_norm([x(2, 3), x(4)])"),
    *of("[repr(it), list(it.state_dict()), [m.training for m in it.modules()]]",
        "nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(4), nn.Sequential(nn.BatchNorm2d(4).eval(), nn.ReLU())))"),
    *of("fill(it)(x(2, 4))", "U.weight_norm(nn.Linear(4, 3))", "U.spectral_norm(nn.Linear(4, 3))",
        "U.parametrizations.weight_norm(nn.Linear(4, 3))", "U.parametrizations.spectral_norm(nn.Linear(4, 3))",
        "U.parametrizations.orthogonal(nn.Linear(4, 3))",
        orthogonal_map=("matrix_exp", "cayley", "householder"), name=("weight", "none"), dim=(0, 1, None)),
]  # fmt: skip

FUNCTIONS = [
    *of("it", "F.interpolate(x(1, 2, 4, 5), 7)", "F.interpolate(x(1, 2, 4, 5), scale_factor=1.5, mode='bilinear')",
        "F.interpolate(x(1, 2, 4), 7, mode='linear')", "F.interpolate(x(1, 1, 2, 3, 2), 4, mode='trilinear')",
        **{**SIZES, "mode": (*SIZES["mode"], "linear", "trilinear")}),
    *of("it", "F.grid_sample(x(1, 2, 3, 4), x(1, 2, 3, 2))", "F.grid_sample(x(1, 2, 3, 4), x(1, 2, 3, 2), align_corners=True)",
        **FLAG, mode=("bilinear", "nearest", "bicubic"), padding_mode=("zeros", "border", "reflection")),
    *of("it", "F.pad(x(2, 3, 4, 5), (1, 2))", "F.pad(x(2, 3, 4), (1, 2), 'reflect')", "F.pad(x(2, 3, 4), (1, 2), 'circular')",
        mode=("constant", "reflect", "replicate", "circular")),
    *of("it", "F.normalize(x(2, 3))", "F.cosine_similarity(x(2, 3), x(2, 3).flip(0))",
        "F.pairwise_distance(x(2, 3), x(2, 3).flip(0))", "F.one_hot(n(0, 2, 1))", "F.softmax(x(2, 3), 1)",
        "F.gumbel_softmax(x(2, 3))", "F.affine_grid(x(1, 2, 3), (1, 1, 2, 3), False)", "F.local_response_norm(x(1, 4, 5), 2)",
        "F.lp_pool1d(x(1, 2, 6).abs(), 2.0, 2)", "F.lp_pool2d(x(1, 2, 6, 6).abs(), 2.0, 2)", "F.max_pool1d(x(1, 2, 6), 2)",
        "F.max_pool2d(x(1, 2, 6, 6), 2)", "F.max_pool3d(x(1, 2, 4, 4, 4), 2)", "F.max_unpool1d(x(1, 1, 3), n(0, 3, 5).reshape(1, 1, 3), 2)",
        "F.layer_norm(x(2, 4), (4,))", "F.group_norm(x(2, 4, 3), 2)", "F.instance_norm(x(2, 4, 3))",
        "F.batch_norm(x(3, 4), x(4), x(4).abs())", "F.embedding(n(0, 2), x(3, 4))", "F.fold(x(1, 8, 9), (4, 4), 2)",
        "F.unfold(x(1, 2, 4, 4), 2)", "F.dropout(x(3, 4))", "F.dropout1d(x(1, 3, 4))", "F.dropout2d(x(1, 3, 4, 2))",
        "F.alpha_dropout(x(3, 4), 0.5, True)", "F.rrelu(x(3, 4))", "F.threshold(x(3, 4), 0.1, 0.2)", "F.hardtanh(x(3, 4))",
        "F.elu(x(3, 4))", "F.leaky_relu(x(3, 4))", "F.glu(x(3, 4))", "F.scaled_dot_product_attention(x(1, 3, 4), x(1, 3, 4), x(1, 3, 4))"),
]  # fmt: skip

TABLES = {
    "modules": MODULES, "losses": LOSSES, "optimizers": OPTIMIZERS, "schedulers": [*SCHEDULERS, *PLATEAU],
    "init": WRITTEN, "data": LOADED, "helpers": HELPERS, "functions": FUNCTIONS,
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_settings_one_by_one(table):
    found, seen = differing(TABLES[table], KNOWN)
    assert not found, f"{len(found)} of {seen}\n" + "\n".join(found)


@pytest.mark.parametrize("table", TABLES)
def test_settings_two_at_a_time(table):
    found, seen = differing(TABLES[table], KNOWN, changed_in_two)
    assert not found, f"{len(found)} of {seen}\n" + "\n".join(found)
