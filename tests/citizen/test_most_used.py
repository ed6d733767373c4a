"""Functions, modules and methods that programs use most: ``help`` says every argument and shows a call that runs."""

import doctest
import functools
import inspect
import re

import pytest

import mindtorch_core as torch
import mindtorch_core.utils.data.distributed

USED = {
    "nn.functional": """
        adaptive_avg_pool2d adaptive_max_pool2d affine_grid alpha_dropout avg_pool1d avg_pool2d batch_norm
        binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss
        dropout dropout1d dropout2d elu embedding embedding_bag fold gaussian_nll_loss gelu glu
        grid_sample group_norm gumbel_softmax hardsigmoid hardswish hardtanh hinge_embedding_loss
        huber_loss instance_norm interpolate kl_div l1_loss layer_norm leaky_relu linear
        local_response_norm log_softmax lp_pool2d margin_ranking_loss max_pool1d max_pool2d max_pool3d
        mish mse_loss nll_loss normalize one_hot pad pairwise_distance pixel_shuffle pixel_unshuffle
        poisson_nll_loss prelu relu relu6 rms_norm scaled_dot_product_attention selu silu
        smooth_l1_loss softmax softmin softplus softsign threshold triplet_margin_loss unfold
    """,
    "nn": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d AlphaDropout AvgPool1d AvgPool2d BCELoss
        BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Buffer CTCLoss ConstantPad2d
        Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d CosineEmbeddingLoss CosineSimilarity
        CrossEntropyLoss Dropout Dropout2d ELU Embedding EmbeddingBag Flatten Fold GELU GLU GRU GRUCell
        GaussianNLLLoss GroupNorm Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d
        InstanceNorm2d KLDivLoss L1Loss LSTM LSTMCell LayerNorm LazyLinear LeakyReLU Linear LogSoftmax
        MSELoss MarginRankingLoss MaxPool1d MaxPool2d Mish Module ModuleDict ModuleList
        MultiheadAttention NLLLoss PReLU PairwiseDistance Parameter ParameterDict ParameterList
        PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell ReLU ReLU6 ReflectionPad2d
        ReplicationPad2d SELU Sequential SiLU Sigmoid SmoothL1Loss Softmax Softplus Tanh Transformer
        TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
        TripletMarginLoss Unflatten Unfold Upsample ZeroPad2d
    """,
    "nn.Module": """
        add_module apply children eval get_submodule load_state_dict modules named_modules
        named_parameters parameters register_buffer register_forward_hook register_forward_pre_hook
        register_parameter requires_grad_ state_dict to train zero_grad
    """,
    "nn.init": """
        constant_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ trunc_normal_ uniform_
        xavier_normal_ xavier_uniform_ zeros_
    """,
    "nn.utils": """
        clip_grad_norm_ clip_grad_value_ parametrizations.spectral_norm parametrizations.weight_norm
        rnn.pack_padded_sequence rnn.pad_packed_sequence rnn.pad_sequence
    """,
    "optim": """
        ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS NAdam RAdam RMSprop Rprop SGD
        Optimizer.add_param_group Optimizer.step Optimizer.zero_grad swa_utils.AveragedModel
    """,
    "optim.lr_scheduler": """
        ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LambdaLR LinearLR
        MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR
    """,
    "utils.data": """
        BatchSampler ConcatDataset DataLoader Dataset IterableDataset RandomSampler SequentialSampler
        Subset SubsetRandomSampler TensorDataset WeightedRandomSampler default_collate
        distributed.DistributedSampler random_split
    """,
    "Tensor": """
        add_ backward bfloat16 bool clamp_ clone contiguous copy_ cpu detach dim div_ double expand
        expand_as fill_ float half index_add_ int is_contiguous item long masked_fill masked_fill_ mul_
        new_full new_ones new_tensor new_zeros normal_ numel numpy permute register_hook repeat
        requires_grad_ reshape retain_grad scatter_ scatter_add_ size squeeze stride sub_ to tolist
        transpose type type_as unfold uniform_ unsqueeze view view_as zero_
    """,
    "": """
        Generator abs add addmm all allclose amax any arange argmax argmin argsort argwhere as_tensor
        asarray autocast baddbmm bincount bitwise_and bmm broadcast_to bucketize cat cdist ceil chunk
        clamp compile cos count_nonzero cross cumprod cumsum device diag diagonal div dot einsum empty
        empty_like enable_grad eq erf exp eye finfo flatten flip floor floor_divide from_numpy full
        full_like gather get_rng_state hstack iinfo index_add index_select inference_mode
        is_grad_enabled is_tensor isclose isfinite isinf isnan kron lerp linspace load log log10 log1p
        log2 logical_and logsumexp manual_seed masked_select matmul max maximum mean median meshgrid min
        minimum mm movedim mul multinomial mv nan_to_num narrow no_grad nonzero norm numel ones
        ones_like outer permute pipeline pow prod promote_types quantile rand rand_like randint randn
        randn_like randperm reciprocal remainder repeat_interleave reshape result_type roll round
        rsqrt save scatter scatter_add searchsorted select set_default_dtype set_grad_enabled
        set_num_threads set_printoptions set_rng_state sigmoid sign sin softmax sort split sqrt square
        squeeze stack std sub sum t take_along_dim tanh tensor tensordot tile topk transpose tril triu
        trunc unbind unique unique_consecutive unsqueeze use_deterministic_algorithms var vmap vstack
        where zeros zeros_like
    """,
    "autograd": "backward functional.jacobian grad gradcheck",
    "func": "functional_call grad vmap",
    "amp": "GradScaler",
    "testing": "assert_close",
    "utils.checkpoint": "checkpoint",
}
NAMES = [f"{home}.{name}".lstrip(".") for home, names in USED.items() for name in names.split()]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def found(name):
    return functools.reduce(getattr, name.split("."), torch)


def described(thing):
    """The arguments that a docstring has a line on, in its order."""
    part = inspect.getdoc(thing).partition("Args:\n")[2].split("\n\n")[0]
    lines = re.findall(r"^    ([*\w]+(?:, [*\w]+)*): ", part, re.MULTILINE)
    return [name.strip("*") for line in lines for name in line.split(", ")]


def test_there_are_more_than_four_hundred_and_none_twice():
    assert len(NAMES) == len({*NAMES}) > 400


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_described_and_no_other(name):
    thing = found(name)
    taken = [n for n in inspect.signature(thing).parameters if n == "self" or n[0] != "_"]
    told = described(thing)
    of_tensor = {"self", "input"} & {*taken[:1], *told[:1]}  # what a method is called on
    assert len(told) == len({*told})
    assert {n for n in told if n[0] != "_"} - of_tensor == {*taken} - of_tensor


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs(name):
    doc = inspect.getdoc(found(name))
    test = doctest.DocTestParser().get_doctest(doc, {"torch": torch}, name, None, 0)
    assert test.examples
    failures = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append)
    assert not failures, "".join(failures)
