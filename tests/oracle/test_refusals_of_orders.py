"""What is refused of reductions, orders, random numbers and views, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    torch.gradient(ones(3), edge_order=3)
    torch.gradient(ones(2), edge_order=2)
    torch.gradient(ones(3), dim=[0, 0])
    torch.trapezoid(ones(3), ones(2))
    torch.trapezoid(ones(3), ones(1))
    torch.cumulative_trapezoid(ones(3), ones(2))
    torch.diff(ones(3), n=-1)
    torch.diff(ones(()))
    torch.diff(ones(3), prepend=ones(2, 2))
    torch.max(zeros(0))
    torch.amax(zeros(0))
    torch.amax(zeros(0, 2), dim=0)
    torch.argmax(zeros(0))
    torch.aminmax(zeros(0))
    torch.min(zeros(0, 2), 0)
    torch.mode(zeros(0, 2), 0)
    torch.kthvalue(ones(2), 3)
    torch.kthvalue(ones(2), 0)
    torch.topk(ones(2), 3)
    torch.topk(ones(2), -1)
    torch.argsort(ones(2), dim=2)
    torch.unique(zeros(0, 2), dim=1)
    torch.unique_consecutive(zeros(2, 0), dim=0)
    torch.unique(ones(2), dim=3)
    torch.quantile(zeros(0), 0.5)
    torch.quantile(ones(2), 1.5)
    torch.quantile(ones(2), -0.1)
    torch.quantile(ones(2), ones(1).double())
    torch.quantile(ints(1, 2), 0.5)
    torch.quantile(ones(2), ones(2, 2))
    torch.nanquantile(ones(2), 2.0)
    torch.histc(ones(2), min=2, max=1)
    torch.histc(ones(2), min=float("nan"), max=1)
    torch.histogramdd(ones(2), bins=[2])
    torch.histogramdd(ones(2, 2), bins=[2])
    torch.bincount(ints(-1))
    torch.bincount(ints(1, 1).reshape(1, 2))
    torch.bincount(ints(1), weights=ones(2))
    torch.bincount(ints(1), minlength=-1)
    torch.bucketize(ones(2), ones(2, 2))
    torch.searchsorted(ones(2, 2), ones(3, 2))
    torch.searchsorted(ones(2), ones(2), side="up")
    torch.searchsorted(ones(2), ones(2), side="left", right=True)
    torch.searchsorted(ones(2), ones(2), sorter=ones(2))
    torch.segment_reduce(ones(2), "sum", lengths=ints(-1, 3))
    torch.segment_reduce(ones(2), "sum", lengths=ints(1, 2))
    torch.var(ints(1, 2))
    torch.mean(ints(1, 2))
    torch.nanmean(ints(1, 2))
    torch.logsumexp(ones(2), 3)
    torch.prod(ones(2), dim=2)
    torch.all(ones(2), dim=2)
    torch.cumsum(ones(2), 2)
    torch.logcumsumexp(ints(1), 0)
    torch.count_nonzero(ones(2), dim=(0, 0))
    torch.sum(ones(2, 2), dim=(0, 0))
    torch.sum(ones(2), dim=2)
    torch.nansum(ones(2) * 1j)
    torch.softmax(ints(1, 2), 0)
    torch.softmax(ones(2), 1)
    torch.log_softmax(ones(2), 0, dtype=torch.int64)
    torch.bernoulli(ints(1))
    torch.bernoulli(ones(2), 1.5)
    ones(2).bernoulli_(-1)
    torch.normal(0.0, -1.0, (2,))
    torch.normal(ones(2), -ones(2))
    torch.normal(ones(2), ones(2) * 1j)
    torch.normal(ints(1), ones(1))
    torch.normal(ones(2), ones(3))
    ones(2).normal_(0, -1)
    ints(1).normal_()
    ones(2).uniform_(2, 1)
    ones(2).half().uniform_(0, 1e6)
    ints(1).uniform_()
    ones(2).random_(3, 3)
    ones(2).random_(0)
    ones(2).random_(-5, -6)
    ints(1).to(torch.uint8).random_(0, 300)
    ints(1).to(torch.int8).random_(-200, 3)
    (ones(2) * 1j).random_()
    (ones(2) * 1j).random_(3)
    ones(2).exponential_(0)
    ones(2).exponential_(-1)
    ints(1).exponential_()
    ones(2).cauchy_(0, 0)
    ones(2).log_normal_(0, 0)
    ones(2).geometric_(0)
    ones(2).geometric_(1)
    ones(2).geometric_(1.5)
    torch.multinomial(ints(1, 2), 1)
    torch.multinomial(ones(2), 0)
    torch.multinomial(ones(2), 3)
    torch.multinomial(zeros(2), 1)
    torch.multinomial(-ones(2), 1)
    torch.multinomial(torch.full((2,), float("nan")), 1)
    torch.multinomial(ones(2, 2, 2), 1)
    torch.multinomial(ones(()), 1)
    torch.binomial(ints(1), ones(1))
    torch.binomial(ones(1), ints(1))
    torch.binomial(ones(1), ones(1).double())
    torch.poisson(ints(1))
    torch.poisson(-ones(2))
    torch._standard_gamma(ints(1))
    torch._sample_dirichlet(ints(1))
    torch.rand(2, -1)
    torch.rand_like(ints(1))
    torch.randn(2, dtype=torch.int64)
    torch.rand(2, dtype=torch.int64)
    ones(2, 2).narrow(0, 0, -1)
    ones(2, 2).narrow(0, 1, 2)
    ones(()).narrow(0, 0, 1)
    torch.split(ones(()), 1)
    torch.split(ones(2), -1)
    torch.split(ones(2), 0)
    torch.split(ones(2), [1, -1])
    torch.split(ones(2), [1, 2])
    torch.chunk(ones(()), 1)
    torch.chunk(ones(2), 0)
    torch.tensor_split(ones(2), 0)
    torch.tensor_split(ones(()), 1)
    torch.tensor_split(ones(2), ones(1))
    torch.hsplit(ones(()), 1)
    torch.hsplit(ones(3), 2)
    torch.vsplit(ones(2), 1)
    torch.dsplit(ones(2, 2), 1)
    torch.vsplit(ones(3, 2), 2)
    torch.unsafe_split(ones(2), -1)
    torch.unsafe_chunk(ones(2), 0)
    torch.flatten(ones(2, 2), 1, 0)
    torch.flatten(ones(2, 2), 3)
    ones(2).unflatten(0, ())
    ones(2).unflatten(0, (3,))
    ones(2).unflatten(0, (-1, 3))
    ones(2, 2).permute(0, 0)
    ones(2, 2).permute(0, 2)
    ones(2, 2).movedim((0, 0), (0, 1))
    ones(2, 2).movedim((0, 1), (0, 0))
    ones(2, 2).movedim((0, 1), (0,))
    ones(2, 2).contiguous(memory_format=torch.channels_last)
    ones(2).view(3)
    ones(2).view(-1, -1)
    ones(2).view(-2, 1)
    ones(2, 3).t().view(6)
    ones(()).view(torch.float64)
    ones(3).view(torch.float64)
    ones(2, 4)[:, ::2].view(torch.float64)
    zeros(0).view(-1, 0)
    ones(2).reshape(3)
    ones(2).reshape(-1, 0)
    ones(2).unfold(0, 3, 1)
    ones(2).unfold(0, -1, 1)
    ones(2).unfold(0, 1, 0)
    ones(2).unfold(1, 1, 1)
    ones(2, 2, 2).t()
    ones(2, 2).transpose(0, 2)
    torch.swapaxes(ones(2), 0, 1)
    ones(2).T.mT
    ones(2, 2, 2).H
    ones(2).expand(3)
    ones(2, 1).expand(2)
    ones(2).expand(-1, 2)
    ones(2).expand(-1, -1)
    torch.broadcast_to(ones(2), (3,))
    torch.broadcast_tensors(ones(2), ones(3))
    ones(2).as_strided((3,), (1,))
    ones(2).as_strided((2,), (-1,))
    ones(2).as_strided((2,), (1, 1))
    ones(2).squeeze(1)
    ones(2, 1).squeeze((0, 0))
    ones(2).unsqueeze(2)
    ones(2).select(0, 2)
    ones(()).select(0, 0)
    ones(2).diagonal()
    ones(2, 2).diagonal(0, 0, 2)
    ones(2).unbind(1)
    ones(()).unbind()
    torch.view_as_real(ones(2))
    torch.view_as_complex(ones(3))
    torch.view_as_complex(ints(1, 2))
    torch.view_as_complex(ones(()))
    torch.imag(ones(2))
    ones(2, requires_grad=True).resize_(3)
    len(ones(()))
    list(ones(()))
    "x" in ones(2)
    [1] in ones(2)
    bool(ones(2))
    float(ones(2))
    int(zeros(0))
    ones(2).item()
    (ones(1) * 1j).__float__()
    range(3)[ones(1)]
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "torch.gradient(ones(3), spacing=[1.0, 2.0])":
        "torch.gradient expected spacing to be unspecified, a scalar or a list of length 1, one",
    'torch.trapezoid(ones(3), dx="x")':
        "trapezoid() received an invalid combination of arguments - got (Tensor, dx=str), but",
    "torch.trapezoid(ones(3), ones(3), dx=1)":
        "trapezoid() received an invalid combination of arguments - got (Tensor, Tensor, dx=int),",
    "torch.aminmax(zeros(0, 2), dim=0)": "aminmax(): Expected reduction dim 0 to have non-zero size.",
    "torch.median(ones(2) * 1j)": '"median" not implemented for \'ComplexFloat\'',
    "torch.sort(ones(2) * 1j)":
        "Sort does not support complex dtypes: complex numbers have no order. Sort their .abs(),",
    'torch.quantile(ones(2), 0.5, interpolation="other")':
        "quantile() interpolation must be one of linear, lower, higher, midpoint, nearest, but got",
    "torch.histc(ones(2), bins=0)": "torch.histc(): bins must be > 0, but got 0",
    "torch.histogram(ones(2), bins=0)": "torch.histogram(): bins must be > 0, but got 0",
    "torch.histogram(ones(2), ones(2, 2))":
        "torch.histogram(): bins tensor should have one dimension and at least one element, but",
    "torch.histogram(ones(2), 2, weight=ones(3))":
        "torch.histogram(): if weight tensor is provided it should have the same shape as the",
    "torch.histogram(ones(2), 2, range=(2.0, 1.0))":
        "torch.histogram: max must be larger than min, got [2, 1]",
    "torch.bincount(ones(2))": '"bincount" not implemented for \'Float\'',
    "torch.searchsorted(ones(2), ones(2), sorter=ints(0))":
        "torch.searchsorted(): boundary and sorter must have the same size, but got boundary",
    "torch.searchsorted(ones(2), ones(2), sorter=ints(0, 5))":
        "searchsorted(): index 5 is out of bounds for dimension 0 with size 2",
    'torch.segment_reduce(ones(2), "other", lengths=ints(2))':
        "segment_reduce(): unknown reduction 'other': one of sum, mean, amax, max, amin, min, prod",
    'torch.segment_reduce(ones(2), "sum")':
        "segment_reduce(): Expected one of lengths or offsets to be specified.",
    "torch.std_mean(ints(1, 2))":
        "std and var only support floating point and complex dtypes, got torch.int64",
    "torch.cummax(ones(2) * 1j, 0)": '"cummax" not implemented for \'ComplexFloat\'',
    "torch.bernoulli(ones(2) * 2)":
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli takes probabilities",
    "ones(2, 2).narrow(0, 3, 0)":
        "Dimension out of range (expected to be in range of [-2, 2], but got 3)",
    "ones(2, 2).narrow(0, -3, 1)":
        "Dimension out of range (expected to be in range of [-2, 2], but got -3)",
    "ones(2).unflatten(0, (-1, -1))":
        "unflatten: Provided sizes [-1, -1] don't multiply up to the size of dim 0 (2) in the",
    "ones(2, 2).permute(0)":
        "permute: number of dimensions in the tensor input does not match the length of the",
    "ones(2).expand(2, -2)": "expand: invalid size -2 at dimension 1 of [2, -2]",
    "torch.broadcast_shapes((2,), (3,))":
        "a dimension of length 3 at -1 does not broadcast: the shape (3,) at index 1 does not meet",
    "torch.broadcast_shapes((-1,), (3,))":
        "a dimension of negative length does not broadcast: (-1,) at index 0",
    "ones(2).as_strided((1,), (1,), -1)":
        "setStorage: sizes [1], strides [1], storage offset -1, and itemsize 4 requiring a storage",
    "ones(2).resize_(-1)": "Trying to create tensor with negative dimension -1: [-1]",
    "ones(2).set_(ints(1))": "Could not set tensor of type Long to a tensor of type Float",
    'ones(2).set_("x")': "set_(): argument 'source' must be Tensor or Storage, not str",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
