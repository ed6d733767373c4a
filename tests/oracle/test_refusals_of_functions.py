"""What is refused of functions of modules, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    F.glu(ones(3))
    F.prelu(ones(2, 3), ones(2))
    F.prelu(ones(()), ones(2))
    F.prelu(ones(2, 3), ones(3, 1))
    F.rrelu(ones(2), 1.0, 0.5)
    F.gelu(ones(2), approximate="other")
    F.hardtanh(ones(2), 1.0, -1.0)
    F.celu(ones(2), 0.0)
    F.avg_pool2d(ones(1, 4, 4), 2, divisor_override=0)
    F.avg_pool1d(ones(1, 4), 2, padding=2)
    F.avg_pool2d(ones(1, 4, 4), 2, padding=-1)
    F.max_pool2d(ones(1, 4, 4), 2, padding=2)
    F.max_pool2d(ones(1, 4, 4), 2, padding=-1)
    F.adaptive_avg_pool2d(ones(4, 4), 2)
    F.fractional_max_pool2d(ones(1, 4, 4), 2)
    F.fractional_max_pool3d(ones(1, 4, 4, 4), 2)
    F.max_unpool1d(ones(1, 2), ints(0, 9).reshape(1, 2), 2)
    F.max_unpool1d(ones(1, 2), ints(0, 1, 2).reshape(1, 3), 2)
    F.max_unpool2d(ones(1, 2, 2), ones(1, 2, 2), 2)
    F.max_unpool2d(ones(1, 1, 1), ints(0).reshape(1, 1, 1), 2, output_size=(9, 9))
    F.multi_margin_loss(ones(2, 3), ints(0, 1), weight=ones(2))
    F.multi_margin_loss(ones(2, 3), ints(0, 1), p=3)
    F.multi_margin_loss(ones(2, 3, 4), ints(0, 1))
    F.multilabel_margin_loss(ones(2, 3), ints(0, 1))
    F.multilabel_margin_loss(ones(2, 3, 4), ints(0, 1))
    F.nll_loss(ones(2, 3), ints(0))
    F.nll_loss(ones(2, 3), ints(0, 5))
    F.nll_loss(ones(2, 3), ones(2))
    F.nll_loss(ones(2, 3), ints(0, 0).reshape(1, 2))
    F.nll_loss(ones(2, 3), ints(0, 1), weight=ones(2))
    F.nll_loss(ones(2, 3), ints(0, 1), weight=ones(3).double())
    F.nll_loss(ones(2, 3), ints(0, 1), reduction="other")
    F.nll_loss(ones(3), ints(0, 1))
    F.cross_entropy(ones(2, 3), ints(0))
    F.cross_entropy(ones(2, 3), ones(2, 2))
    F.cross_entropy(ones(2, 3), ints(0, 1), label_smoothing=2.0)
    F.cross_entropy(ones(2, 3), ints(0, 7))
    F.cross_entropy(ones(2, 3), ones(2, 3), ignore_index=1)
    F.binary_cross_entropy(ones(2) * 2, ones(2))
    F.binary_cross_entropy(ones(2), ones(3))
    F.binary_cross_entropy(ones(2), ints(1, 1))
    F.binary_cross_entropy_with_logits(ones(2), ones(3))
    F.mse_loss(ones(2), ones(2), reduction="other")
    F.mse_loss(ones(2), ones(3))
    F.l1_loss(ones(2), ones(2, 3, 4))
    F.smooth_l1_loss(ones(2), ones(2), beta=-1.0)
    F.huber_loss(ones(2), ones(2), delta=0.0)
    F.gaussian_nll_loss(ones(2), ones(2), -ones(2))
    F.gaussian_nll_loss(ones(2), ones(2), ones(3))
    F.gaussian_nll_loss(ones(2), ones(2), -1.0)
    F.poisson_nll_loss(ones(2), ones(2), reduction="other")
    F.kl_div(ones(2), ones(3))
    F.soft_margin_loss(ones(2), ones(3))
    F.hinge_embedding_loss(ones(2), ones(3))
    F.margin_ranking_loss(ones(2), ones(2, 2), ones(2))
    F.cosine_embedding_loss(ones(2), ones(2), ones(2))
    F.cosine_embedding_loss(ones(2, 3), ones(2, 3), ones(2, 3))
    F.cosine_embedding_loss(ones(2, 3), ones(3, 3), ones(2))
    F.triplet_margin_loss(ones(2), ones(2, 2), ones(2))
    F.triplet_margin_loss(ones(2), ones(2), ones(2), margin=-1.0)
    F.triplet_margin_with_distance_loss(ones(2), ones(2), ones(2), reduction="other")
    F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ones(1), ones(1))
    F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ints(2), ints(1), blank=5)
    F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ints(2, 2), ints(1))
    F.conv1d(ones(1, 2, 3), ones(1, 3, 1))
    F.conv1d(ones(1, 2, 3), ones(1, 2, 5))
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), stride=0)
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), padding=-1)
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), groups=0)
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), bias=ones(2))
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), padding="other")
    F.conv1d(ones(1, 2, 3), ones(1, 2, 1), stride=2, padding="same")
    F.conv_transpose1d(ones(1, 2, 3), ones(3, 1, 1))
    F.conv_transpose1d(ones(1, 2, 3), ones(2, 1, 1), output_padding=-1)
    F.fold(ones(4), (2, 2), (2, 2))
    F.dropout(ones(2), 1.5)
    F.dropout(ones(2), -0.1)
    F.dropout2d(ones(2), 2.0)
    F.alpha_dropout(ones(2), 1.5)
    F.feature_alpha_dropout(ones(2), -1.0)
    F.embedding(ints(0), ones(3))
    F.embedding(ints(5), ones(3, 2))
    F.embedding(ints(0), ones(3, 2), padding_idx=5)
    F.embedding(ints(0), ones(3, 2), padding_idx=-5)
    F.embedding_bag(ints(0), ones(3, 2))
    F.embedding_bag(ints(0), ones(3, 2), ints(0), mode="other")
    F.one_hot(ints(-1))
    F.one_hot(ints(3), 2)
    F.one_hot(ints(-1), 2)
    F.one_hot(ones(2))
    F.one_hot(zeros(0).long())
    F.one_hot(ints(1), 0)
    F.affine_grid(ints(1), (1, 1, 2, 2))
    F.affine_grid(ones(2, 2, 3), (1, 1, 2, 2))
    F.grid_sample(ones(1, 1, 2, 2), ones(1, 2, 2, 2), mode="other")
    F.grid_sample(ones(1, 1, 2, 2), ones(1, 2, 2, 2), padding_mode="other")
    F.interpolate(ones(2, 2), 2)
    F.interpolate(ones(1, 1, 2))
    F.interpolate(ones(1, 1, 2), 2, scale_factor=2)
    F.interpolate(ones(1, 1, 2), 2, mode="other")
    F.interpolate(ones(1, 1, 2), 2, mode="bilinear")
    F.interpolate(ones(1, 1, 2, 2), 2, mode="linear")
    F.interpolate(ones(1, 1, 2), 2, mode="nearest", align_corners=True)
    F.interpolate(ones(1, 1, 2), 2, mode="linear", antialias=True)
    F.interpolate(ones(1, 1, 2), 2, recompute_scale_factor=True)
    F.interpolate(ones(1, 1, 2, 2), 2, mode="trilinear")
    F.pad(ones(2), (1,))
    F.pad(ones(2), (1, 1, 1, 1))
    F.pad(ones(1, 2), (3, 0), mode="circular")
    F.pad(ones(1, 2), (1, 1), mode="reflect", value=1.0)
    F.pad(ones(1, 0), (1, 1), mode="reflect")
    F.pixel_shuffle(ones(2), 2)
    F.pixel_shuffle(ones(3, 2, 2), 2)
    F.pixel_shuffle(ones(4, 2, 2), 0)
    F.pixel_unshuffle(ones(1, 3, 2), 2)
    F.pixel_unshuffle(ones(2), 2)
    F.pixel_unshuffle(ones(1, 2, 2), -1)
    F.channel_shuffle(ones(2), 2)
    F.channel_shuffle(ones(1, 3, 2), 2)
    F.layer_norm(ones(2), (3,))
    F.layer_norm(ones(2), ())
    F.layer_norm(ones(2), (2,), ones(3))
    F.layer_norm(ones(2), (2,), ones(2), ones(3))
    F.rms_norm(ones(2), (2,), ones(3))
    F.group_norm(ones(2), 1)
    F.group_norm(ones(1, 2), 1, ones(3))
    F.batch_norm(ones(1, 2), None, None)
    F.batch_norm(ones(2, 2), ones(3), ones(2))
    F.batch_norm(ones(2, 2), ones(2), ones(3))
    F.batch_norm(ones(2, 2), ones(2), ones(2), weight=ones(3))
    F.batch_norm(ones(2, 2), ones(2), ones(2), bias=ones(3))
    F.batch_norm(ones(1, 2), ones(2), ones(2), training=True)
    F.instance_norm(ones(1, 2, 1))
    F.instance_norm(ones(1, 2))
    F.instance_norm(ones(1, 2, 2), use_input_stats=False)
    F.normalize(ones(2), dim=3)
    F.linear(ones(2), ones(3, 3))
    F.linear(ones(2), ones(2, 2).double())
    F.scaled_dot_product_attention(ones(2, 2), ones(2, 3), ones(2, 3))
    F.scaled_dot_product_attention(ones(2, 2), ones(2, 2), ones(2, 2), ones(2, 2), is_causal=True)
    F.scaled_dot_product_attention(ones(2, 2), ones(2, 2), ones(2, 2), ones(3, 3))
    F.scaled_dot_product_attention(ones(2, 2), ones(2, 2), ones(3, 2))
    attend(ones(2), ones(2), ones(2))
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), size=3)
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), heads=3)
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), weight=None)
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), use_separate_proj_weight=True)
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), k=ones(1, 1, 2), v=ones(1, 1, 2), static_k=ones(1, 2, 2))
    F.gumbel_softmax(ints(1, 2))
    F.upsample(ones(1, 1, 2), 2, 3)
    F.pairwise_distance(ones(2), ones(3))
    F.cosine_similarity(ones(2), ones(3))
    torch.lstm(ones(2, 1, 2), [ones(1, 1, 2)], [ones(8, 2), ones(8, 2)], False, 1, 0.0, False, False, False)
    torch.lstm_cell(ones(2, 3), [ones(2, 2), ones(2, 2)], ones(8, 2), ones(8, 2))
    torch._pack_padded_sequence(ones(2, 2), ints(2, 3), True)
    torch._pack_padded_sequence(ones(2, 2), ints(0, 0), True)
    torch._pack_padded_sequence(ones(2, 2), ints(1, 2), True)
    torch._pack_padded_sequence(zeros(0, 2), zeros(0).long(), True)
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "F.glu(ones(()))": "glu does not support 0-dimensional tensors",
    "F.prelu(ones(2), ones(2).double())":
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and",
    "F.softplus(ints(1))": '"softplus" not implemented for \'Long\'',
    "F.threshold(ones(2) * 1j, 0, 0)": '"threshold" not implemented for \'ComplexFloat\'',
    "F.elu(ints(1))": '"elu" not implemented for \'Long\'',
    "F.hardshrink(ones(2) * 1j)": '"hardshrink" not implemented for \'ComplexFloat\'',
    "F.softshrink(ones(2), -1.0)": "lambda must be greater or equal to 0, but found to be -1.0.",
    "F.logsigmoid(ints(1))": '"log_sigmoid" not implemented for \'Long\'',
    "F.avg_pool1d(ones(4), 2)":
        "avg_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for",
    "F.avg_pool2d(ones(1, 4, 4), (2, 2, 2))":
        "expected kernel_size to be a single integer value or a list of 2 values to match the",
    "F.avg_pool2d(ones(1, 4, 4), 2, stride=0)":
        "stride should be greater than zero, but got stride [0, 0] in avg_pool2d",
    "F.avg_pool2d(ones(1, 2, 2), 5)":
        "Given input size: [1, 2, 2]. Calculated output size: [0, 0]. Output size is too small",
    "F.avg_pool3d(ones(1, 4, 4), 2)":
        "avg_pool3d: Expected 4D or 5D (batch mode) tensor with optional 0 dim batch size for",
    "F.max_pool1d(ones(4), 2)":
        "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for",
    "F.max_pool1d(ones(1, 4), 2, padding=2)":
        "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and",
    "F.max_pool1d(ones(1, 4), 0)":
        "kernel size should be greater than zero, but got kernel size [0] in max_pool1d",
    "F.max_pool1d(ones(1, 4), 2, dilation=0)":
        "dilation should be greater than zero, but got dilation [0] in max_pool1d",
    "F.max_pool1d(ones(1, 4), 2, stride=0)":
        "stride should be greater than zero, but got stride [0] in max_pool1d",
    "F.max_pool2d(ones(4, 4), 2)":
        "max_pool2d: Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for",
    "F.max_pool2d(ones(1, 4, 4), (2, 2, 2))":
        "expected kernel_size to be a single integer value or a list of 2 values to match the",
    "F.max_pool2d(ones(1, 2, 2), 5)":
        "Given input size: [1, 2, 2]. Calculated output size: [0, 0]. Output size is too small",
    "F.max_pool2d(ones(1, 4, 4), 2, dilation=0)":
        "dilation should be greater than zero, but got dilation [0, 0] in max_pool2d",
    "F.max_pool3d(ones(1, 4, 4), 2)":
        "max_pool3d: Expected 4D or 5D (batch mode) tensor with optional 0 dim batch size for",
    "F.lp_pool1d(ones(4), 2, 2)":
        "avg_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for",
    "F.adaptive_avg_pool1d(ones(4), 2)": "adaptive_avg_pool1d(): Expected 2D or 3D tensor, but got [4]",
    "F.adaptive_avg_pool2d(ones(1, 4, 4), -1)":
        "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but",
    "F.adaptive_max_pool1d(ones(1, 0), 2)":
        "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but",
    "F.adaptive_max_pool3d(ones(4, 4, 4), 2)":
        "adaptive_max_pool3d(): Expected 4D or 5D tensor, but got [4, 4, 4]",
    "F.fractional_max_pool2d(ones(1, 4, 4), 5, output_size=3)":
        "fractional_max_pool2d(): pool size 5 and output size 3 are too large relative to the",
    "F.fractional_max_pool2d(ones(1, 4, 4), 2, output_size=2, _random_samples=ones(1, 2))":
        "Expect _random_samples to have 3 dimensions, the last of size 2, got [1, 2]",
    "F.fractional_max_pool2d(ones(1, 4, 4), 2, output_size=2, _random_samples=ones(1, 1, 3))":
        "Expect _random_samples to have 3 dimensions, the last of size 2, got [1, 1, 3]",
    "F.max_unpool2d(ones(2, 2), ints(0, 1, 2, 3).reshape(2, 2), 2)":
        "Input to max_unpooling2d should be a 3d or 4d Tensor, but got 2 dimensions",
    "F.multi_margin_loss(ones(2, 3), ints(0))": "inconsistent target size, expected 2 but got [1]",
    "F.multi_margin_loss(ones(2, 3), ints(0, 5))":
        "multi_margin_loss(): index 5 is out of bounds for dimension 1 with size 3",
    "F.nll_loss(ones(1, 3, 2, 2), ints(0))": "Expected target size [1, 2, 2], got [1]",
    "F.nll_loss(ones(1, 3, 2, 2), ints(0, 0).reshape(1, 1, 2))":
        "Expected target size [1, 2, 2], got [1, 1, 2]",
    "F.cross_entropy(ones(2, 3), ones(2, 3), weight=ones(2))":
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    "F.binary_cross_entropy(ones(2), ones(2), weight=ones(3))":
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton",
    'F.gaussian_nll_loss(ones(2), ones(2), ones(2), reduction="other")':
        "other is not a valid value for reduction",
    'F.multilabel_soft_margin_loss(ones(2), ones(2), reduction="other")':
        "other is not a valid value for reduction",
    "F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ints(2), ints(3))":
        "Expected tensor to have size at least 3 at dimension 1, but got size [1, 2]",
    "F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ints(5), ints(1))":
        "Expected input_lengths to have value at least 0 and at most 2, but got [5]",
    "F.ctc_loss(ones(2, 1, 3), ints(1, 2).reshape(1, 2), ints(2), ints(-1))":
        "Expected target_lengths to be at least 0, but got [-1]",
    "F.conv1d(ones(2, 3), ones(1, 2))":
        "Expected 3-dimensional weight for conv1d, but got weight of size [1, 2]",
    "F.conv1d(ones(1, 2, 3), ones(1, 2, 1), dilation=0)": "dilation should be greater than zero",
    "F.conv1d(ones(1, 2, 3), ones(3, 1, 1), groups=2)":
        "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of",
    "F.conv1d(ones(1, 2, 3), ones(1, 2, 1).double())":
        "Input type (float) and weight type (double) should be the same",
    "F.conv1d(ones(1, 2, 3), ones(1, 2, 1), stride=(1, 1))":
        "expected stride to be a single integer value or a list of 1 values to match the spatial",
    "F.conv2d(ones(1, 2, 3), ones(1, 2, 1))":
        "Expected 4-dimensional weight for conv2d, but got weight of size [1, 2, 1]",
    "F.conv_transpose1d(ones(1, 2, 3), ones(2, 1, 1), output_padding=1)":
        "output padding must be smaller than either stride or dilation, but got output_padding:",
    "F.conv_transpose2d(ones(1, 2, 3, 3), ones(2, 1, 2, 2), stride=2, output_padding=2)":
        "output padding must be smaller than either stride or dilation, but got output_padding:",
    "F.conv_tbc(ones(2, 2), ones(1, 2, 2), ones(2))": "input must have 3 dimensions, got 2",
    "F.unfold(ones(1, 2, 2), 3)":
        "Given an image of spatial size [2, 2], kernel_size=[3, 3], dilation=[1, 1], padding=[0,",
    "F.unfold(ones(1, 2, 2), 1, padding=-1)": "padding should be non-negative, but got [-1, -1]",
    "F.unfold(ones(1, 2, 2), 1, stride=0)": "stride should be greater than zero, but got [0, 0]",
    "F.unfold(ones(1, 2, 2), 1, dilation=0)": "dilation should be greater than zero, but got [0, 0]",
    "F.unfold(ones(1, 2, 2), 0)": "kernel_size should be greater than zero, but got [0, 0]",
    "F.fold(ones(1, 4, 3), (2, 2), (2, 2))":
        "Given output_size=[2, 2], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1,",
    "F.fold(ones(1, 3, 1), (2, 2), (2, 2))":
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but",
    "F.fold(ones(1, 4, 1), (1, 1), (2, 2))":
        "Given an image of spatial size [1, 1], kernel_size=[2, 2], dilation=[1, 1], padding=[0,",
    "F.fold(ones(1, 4, 1), (2, 2), (2, 2), stride=0)":
        "stride should be greater than zero, but got [0, 0]",
    "F.embedding(ones(2), ones(3, 2))":
        "Expected tensor for argument #1 'indices' to have one of the following scalar types:",
    "F.embedding_bag(ints(0, 1).reshape(1, 2), ones(3, 2), ints(0))":
        "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed",
    "F.embedding_bag(ints(0), ones(3, 2), ints(1))":
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from",
    "F.embedding_bag(ints(0), ones(3, 2), ints(0, 5))":
        "offsets[-1] can not be greater than input's length(1) but got offsets[-1] of 5",
    "F.embedding_bag(ints(0), ones(3, 2), ints(0), per_sample_weights=ones(1))":
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for",
    'F.embedding_bag(ints(0), ones(3, 2), ints(0), mode="sum", per_sample_weights=ones(2))':
        "embedding_bag: If per_sample_weights ([2]) is not None, then it must have the same shape",
    'F.embedding_bag(ints(0), ones(3, 2), ints(0), mode="sum", per_sample_weights=ones(1).double())':
        "Expected 'per_sample_weights' to have the same type as 'weight', torch.float32, but got",
    "F.embedding_bag(ints(7), ones(3, 2), ints(0))":
        "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 7;",
    "F.embedding_bag(ones(1), ones(3, 2), ints(0))":
        "expected indices of dtype int64 or int32, got torch.float32",
    "F.affine_grid(ones(1, 2, 3), (1, 1, 2))":
        "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively.",
    "F.affine_grid(ones(1, 2, 2), (1, 1, 2, 2))":
        "Expected a batch of 2D affine matrices of shape Nx2x3 for size [1, 1, 2, 2]. Got [1, 2,",
    "F.affine_grid(ones(1, 2, 3), (1, 1, 0, 2))":
        "Expected non-zero, positive output size. Got [1, 1, 0, 2]",
    "F.affine_grid(ones(1, 3, 4), (1, 1, 2, 2))":
        "Expected a batch of 2D affine matrices of shape Nx2x3 for size [1, 1, 2, 2]. Got [1, 3,",
    "F.grid_sample(ones(1, 1, 2, 2), ones(1, 2, 2, 3))":
        "grid_sample(): expected grid to have size 2 in last dimension, but got grid with sizes",
    "F.grid_sample(ones(1, 1, 2, 2), ones(2, 2, 2, 2))":
        "grid_sample(): expected grid and input to have same batch size, but got input with sizes",
    "F.grid_sample(ones(1, 1, 2), ones(1, 2, 1))":
        "grid_sample(): expected 4D or 5D input and grid with same number of dimensions, but got",
    'F.grid_sample(ones(1, 1, 2, 2, 2), ones(1, 2, 2, 2, 3), mode="bicubic")':
        "grid_sample(): bicubic interpolation only supports 4D input",
    "F.grid_sample(ones(1, 1, 0, 2), ones(1, 2, 2, 2))":
        "grid_sample(): expected input to have non-empty spatial dimensions, but input has sizes",
    "F.grid_sample(ones(1, 1, 2, 2), ones(1, 2, 2, 2).double())":
        "grid_sample(): expected input and grid to have same dtype, but got torch.float32 and",
    "F.interpolate(ones(1, 1, 2), (2, 2))":
        "Input and output size must have the same number of spatial dimensions, but got input with",
    "F.interpolate(ones(1, 1, 2), scale_factor=(2, 2))":
        "Input and scale_factor must have the same number of spatial dimensions, but got input",
    "F.interpolate(ones(1, 1, 2), 0)":
        "Input and output sizes should be greater than 0, but got input [2] and output [0]",
    'F.pad(ones(2), (1, 1), mode="other")': "Padding size 2 is not supported for 1D input tensor.",
    'F.pad(ones(2), (1, 1), mode="reflect")': "Padding size 2 is not supported for 1D input tensor.",
    'F.pad(ones(1, 2), (2, 0), mode="reflect")':
        "Padding size should be less than the corresponding input dimension, but got: padding (2,",
    'F.pad(ones(1, 2), (-3, 0), mode="replicate")':
        "input (size 2 at dimension 1) is too small. Calculated output size: -1",
    "F.pad(ones(2), (-3, 0))":
        "The input size 2, plus negative padding -3 and 0 resulted in a negative output size,",
    'F.pad(ones(1, 2), (1, 1, 1, 1), mode="replicate")':
        "Padding size 4 is not supported for 2D input tensor.",
    "F.channel_shuffle(ones(1, 2, 2), 0)":
        "Number of groups to divide channels in must be positive, not 0",
    "F.rms_norm(ones(2), (3,))":
        "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2]",
    "F.group_norm(ones(1, 3), 2)":
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 2])",
    "F.group_norm(ones(1, 2), 1, ones(2), ones(3))":
        "Expected bias to be a vector of size equal to the number of channels in input, but got",
    "F.local_response_norm(ones(2, 2), 2)":
        "Expected 3D or higher dimensionality input (got 2 dimensions)",
    "F.local_response_norm(ones(1, 2, 2), 0)": "kernel size should be greater than zero, but got 0",
    "F.linear(ones(2), ones(3, 2), ones(2))":
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    "F.linear(ones(2), ones(2, 2, 2))": "linear(): weight must have 1 or 2 dimensions, got 3",
    "F.bilinear(ones(2), ones(2), ones(1, 2, 2), ones(2))":
        "bilinear(): bias size does not match weight size: got [2] but expected [1]",
    "F.scaled_dot_product_attention(ones(2), ones(2), ones(2))":
        "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: 1,",
    "F.scaled_dot_product_attention(ones(2, 2), ones(2, 2).double(), ones(2, 2))":
        "Expected query, key, and value to have the same dtype, but got query.dtype: torch.float32",
    "F.scaled_dot_product_attention(ones(2, 2), ones(2, 2), ones(2, 2), ints(1, 1))":
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), attn_mask=ones(3, 3))":
        "The shape of the 2D attn_mask is [3, 3], but should be [2, 2].",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), attn_mask=ones(1, 3, 2, 2))":
        "expected `attn_mask` to be `None`, 2-D or 3-D but found 4-D tensor instead",
    "attend(ones(2, 1, 2), ones(3, 1, 2), ones(2, 1, 2))":
        "key shape [3, 1, 2] does not match value shape [2, 1, 2]",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), is_causal=True)":
        "Need attn_mask if specifying the is_causal hint: pass a causal mask as well",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), static_k=ones(2, 2, 2))":
        "expecting static_k.size(0) of 1 and static_k.size(2) of 2, but got [2, 2, 2]",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), key_padding_mask=ones(2, 3))":
        "Expected key_padded_mask to have shape [1, 2], but got [2, 3]",
    "F.ctc_loss(ones(2), ints(1), ints(1), ints(1))":
        "log_probs must be of shape (time, batch, classes), got [2]",
    "torch.rnn_tanh_cell(ones(2, 2), ones(2, 2), ones(3, 2), ones(2, 2))":
        "expected weights of 2 rows, got [3, 2] and [2, 2]",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
