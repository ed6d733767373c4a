"""What is refused of outputs, writes, gradients and dtypes, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    torch.linalg.matrix_rank(ones(2, 2), rtol=ones(()) * 1j)
    torch.linalg.matrix_rank(ones(2, 2), atol=ones(()) * 1j)
    torch.linalg.matrix_rank(ones(2, 2), tol=ones(()) * 1j)
    torch.linalg.matrix_rank(ones(2))
    F.embedding(ints(0), ones(3, 2).requires_grad_(), sparse=True, scale_grad_by_freq=True).sum().backward()
    torch.svd(ones(2, 2).requires_grad_(), compute_uv=False)[0].sum().backward()
    torch.linalg.qr(ones(3, 2).requires_grad_(), mode="complete")[0].sum().backward()
    torch.add(ones(2), 1, out=ints(1, 1))
    torch.add(ones(2), ones(2).requires_grad_(), out=ones(2))
    torch.add(ones(2).requires_grad_(), 1, out=ones(2))
    torch.ops.aten.add.Tensor(ones(2))
    torch.ops.aten.not_there
    torch.ops.aten.add.not_there
    torch.ops.not_there.add(ones(2))
    torch.argmax(zeros(0, 2), dim=0)
    torch.argmin(zeros(0))
    torch.index_select(ones(()), 0, ints(1))
    torch.cumprod(ones(2), 3)
    torch.cummin(ones(2), 3)
    torch.flip(ones(2), (0, 0))
    torch.flip(ones(2), (3,))
    torch.roll(ones(2), 1, 3)
    torch.std(ones(2), 3)
    torch.logcumsumexp(ones(2), 3)
    torch.nansum(ones(2), 4)
    torch.amin(zeros(0, 2), dim=0)
    torch.amin(zeros(0))
    torch.max(ones(2) * 1j)
    torch.min(ones(2) * 1j)
    torch.unique(ones(2) * 1j)
    torch.dist(ones(2), ones(3))
    torch.tensordot(ones(2, 2), ones(2, 2), ((5,), (0,)))
    torch.matmul(ones(2, 2, 3), ones(3, 2, 2))
    torch.linalg.vecdot(ints(1), ones(1))
    torch.linalg.matmul(ones(()), ones(2))
    torch.linalg.solve_ex(ones(2, 3), ones(2))
    torch.linalg.cholesky_ex(ones(2, 3))
    torch.linalg.inv_ex(ones(2, 3))
    torch.linalg.lu(ones(2, 2), pivot=False)
    torch.linalg.ldl_factor_ex(ones(2))
    torch.linalg.diagonal(ones(2))
    torch.orgqr(ones(2, 3), ones(2))
    torch.ormqr(ones(3, 2), ones(3), ones(3, 2))
    torch.ormqr(ones(2), ones(2), ones(2))
    torch.logdet(ones(2, 3))
    torch.nuclear_norm(ones(2))
    torch.where(bools(1, 0))[2]
    torch.lerp(ones(2), ones(3), 0.5)
    torch.addcmul(ones(2), ones(3), ones(2))
    torch.addcdiv(ones(2), ones(3), ones(2))
    torch.digamma(ones(2) * 1j)
    torch.special.multigammaln(ones(2) * 5, 0)
    ones(2).logical_and_("x")
    ones(2).add_(ones(3))
    ones(1).add_(ones(3))
    ones(2).mul_(1j)
    ints(1).add_(0.5)
    ones(2).copy_(ones(3))
    ones(2).fill_(ones(2))
    bools(1).add_(2)
    ones(2).clamp_()
    ones(2).transpose_(0, 3)
    ones(2).squeeze_(3)
    ones(2).unsqueeze_(5)
    ones(2).resize_as_(3)
    ones(2).resize_(2, memory_format=torch.channels_last)
    ones(2).expand_as(ones(3))
    ones(2).view_as(ones(3))
    ones(2).reshape_as(ones(3))
    ones(2).type_as(3)
    ones(2).index_add(0, ints(0), ones(1), alpha="x")
    ones(2, requires_grad=True).add_(1)
    ones(2, requires_grad=True).numpy()
    ones(2).requires_grad_("x")
    ints(1, 2).to(torch.int64).softmax(0)
    (ones(2) * 1j).to("meta").item()
    ones(2).backward()
    ones(2).sum().backward()
    torch.autograd.grad(ones(2).sum(), ones(2))
    torch.softmax(ones(2), 3)
    F.softmin(ones(2), 3)
    F.layer_norm(ints(1, 2), (2,))
    F.embedding(ints(0), ones(3, 2), max_norm="x")
    F.gumbel_softmax(ones(2), dim=3)
    F.cosine_similarity(ones(2), ones(2), dim=3)
    F.pairwise_distance(ones(2, 2), ones(2, 3))
    F.multilabel_soft_margin_loss(ones(2, 3), ones(2, 2))
    F.poisson_nll_loss(ones(2), ones(3))
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "torch.linalg.pinv(ones(2, 2), atol=ones(2) * 1j)":
        "linalg.pinv: atol tensor of complex type is not supported. Got",
    "torch.linalg.pinv(ones(2, 2), rtol=ones(()) * 1j)":
        "linalg.pinv: rtol tensor of complex type is not supported. Got",
    'torch.linalg.qr(ones(2, 3).requires_grad_(), mode="r")[1].sum().backward()':
        "The derivative of linalg.qr depends on Q, which is not computed when",
    "torch.max(ones(2), 0, out=(ones(2),))":
        "max(): expected 2 tensors in 'out', got 1",
    "torch.sort(ones(2), out=ones(2))":
        "sort(): expected 2 tensors in 'out', got 1",
    "torch.ops.aten.add(ones(2))":
        "aten::add() is missing value for argument 'other'. Declaration:",
    "torch.var_mean(ints(1, 2))":
        "std and var only support floating point and complex dtypes, got",
    "torch.nanmedian(ones(2) * 1j)":
        '"nanmedian" not implemented for \'ComplexFloat\'',
    "torch.cummin(ones(2) * 1j, 0)":
        '"cummin" not implemented for \'ComplexFloat\'',
    "torch.histc(ones(2) * 1j)":
        '"histc" not implemented for \'ComplexFloat\'',
    "torch.linalg.vecdot(ones(2), ones(3))":
        "The size of tensor a (2) must match the size of tensor b (3) at",
    "torch.linalg.lu(ones(2), pivot=True)":
        "torch.lu_factor: The input tensor A must have at least 2 dimensions.",
    "torch.linalg.eigvals(ones(2, 3))":
        "linalg.eig: A must be batches of square matrices, but they are 2 by 3",
    "torch.geqrf(ones(2))":
        "torch.geqrf: The input tensor input must have at least 2 dimensions.",
    "torch.pinverse(ones(2))":
        "linalg.pinv: The input tensor A must have at least 2 dimensions.",
    "torch.clamp(ones(2), ones(3))":
        "The size of tensor a (3) must match the size of tensor b (2) at",
    "torch.fmod(ones(2) * 1j, 2)":
        '"fmod" not implemented for \'ComplexFloat\'',
    "torch.trunc(ones(2) * 1j)":
        '"trunc" not implemented for \'ComplexFloat\'',
    "torch.ceil(ones(2) * 1j)":
        '"ceil" not implemented for \'ComplexFloat\'',
    "torch.frac(ones(2) * 1j)":
        '"frac" not implemented for \'ComplexFloat\'',
    "torch.signbit(ones(2) * 1j)":
        '"signbit" not implemented for \'ComplexFloat\'',
    "torch.erf(ones(2) * 1j)":
        '"erf" not implemented for \'ComplexFloat\'',
    "torch.lgamma(ones(2) * 1j)":
        '"lgamma" not implemented for \'ComplexFloat\'',
    "torch.i0(ones(2) * 1j)":
        '"i0" not implemented for \'ComplexFloat\'',
    "torch.igamma(ints(1), ints(1))":
        '"igamma" not implemented for \'Long\'',
    "torch.special.entr(ones(2) * 1j)":
        '"special_entr" not implemented for \'ComplexFloat\'',
    "torch.bitwise_xor(ones(2), ones(2))":
        '"bitwise_xor" not implemented for \'Float\'',
    "torch.lcm(ones(2), ones(2))":
        '"lcm" not implemented for \'Float\'',
    "ones(2).bitwise_or_(1)":
        '"bitwise_or" not implemented for \'Float\'',
    'ints(1).copy_("x")':
        "copy_(): argument 'src' (position 1) must be Tensor, not str",
    "ones(2).fill_(1j)":
        "value cannot be converted to type float32 without overflow: 1j",
    'ones(2).fill_("x")':
        "fill_() received an invalid combination of arguments - got (str), but",
    "ones(2).zero_(3)":
        "Tensor.zero_() takes 1 positional argument but 2 were given",
    "ints(1).requires_grad_()":
        "Only Tensors of floating point and complex dtype can require",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
