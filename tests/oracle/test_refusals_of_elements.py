"""What is refused of elements, factories, transforms and indices, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    torch.diagonal(ones(2, 2), 0, 1, 1)
    torch.diag_embed(ones(2), 0, 1, -1)
    ones(2).fill_diagonal_(1)
    ones(2, 3, 4).fill_diagonal_(1)
    torch.cat([])
    torch.stack([])
    torch.hstack([])
    torch.vstack([])
    torch.dstack([])
    torch.column_stack([])
    torch.roll(ones(2), ())
    torch.roll(ones(2), (1, 2), 0)
    torch.roll(ones(2), (1, 2))
    torch.rot90(ones(2, 2), 1, (0, 0))
    torch.rot90(ones(2, 2), 1, (0, -2))
    torch.rot90(ones(2), 1, (0, 1))
    torch.rot90(ones(2, 2), 1, (0,))
    torch.rot90(ones(2, 2), 1, (0, 2))
    torch.fliplr(ones(2))
    torch.flipud(ones(()))
    ones(2, 2).repeat(2)
    torch.repeat_interleave(ones(2), ints(1, 1).reshape(1, 2))
    torch.repeat_interleave(ones(2), ints(1, -1))
    torch.repeat_interleave(ones(2), -1)
    torch.repeat_interleave(ones(2), ints(1, 1, 1))
    torch._chunk_cat([], 0, 2)
    torch._chunk_cat([ones(2)], 0, 0)
    torch._chunk_cat([ones(2), ones(2).double()], 0, 2)
    torch.meshgrid([])
    torch.meshgrid(ones(2), ones(2), indexing="ji")
    torch.meshgrid(ones(2), ones(2).double(), indexing="ij")
    torch.combinations(ones(2, 2))
    torch.combinations(ones(2), -1)
    torch.vander(ones(2, 2))
    torch.linalg.vander(ones(3), N=0)
    torch.block_diag(ones(2, 2, 2))
    torch.cartesian_prod(ones(2, 2), ones(2))
    torch.empty(-1)
    torch.full((-2,), 1)
    torch.eye(-1)
    torch.eye(2, -1)
    torch.arange(0, float("inf"))
    torch.arange(0, float("nan"))
    torch.arange(0, 5, 0)
    torch.arange(0, 5, -1)
    torch.arange(5, 0)
    torch.range(0, float("inf"))
    torch.range(0, 5, 0)
    torch.range(5, 0)
    torch.linspace(0, 1, -1)
    torch.logspace(0, 1, -1)
    torch.linspace(ones(2), 1, 3)
    torch.empty_permuted((2, 3), (0, 0))
    torch.empty_permuted((2, 3), (0,))
    torch.empty_strided((2, 3), (1,))
    torch.empty_strided((2, 3), (-1, 1))
    torch.hann_window(-1)
    torch.kaiser_window(-2)
    torch.randperm(-1)
    torch.randint(3, 3, (2,))
    torch.randint(3, 1, (2,))
    torch.complex(ones(2), ones(2).double())
    torch.complex(ints(1), ints(1))
    torch.polar(ones(2), ones(2).double())
    torch.polar(ints(1), ints(1))
    torch.heaviside(ones(2), ones(2).double())
    torch.heaviside(ones(2) * 1j, ones(2) * 1j)
    torch.frexp(ints(1))
    torch.polygamma(-1, ones(2))
    torch.mvlgamma(ones(2) * 5, 0)
    torch.isclose(ones(2), ones(2).double())
    torch.isclose(ones(2), ones(2), rtol=-1)
    torch.isclose(ones(2), ones(2), atol=-1)
    torch.allclose(ones(2), ones(2).double())
    torch.clamp(ones(2))
    torch.clip(ones(2))
    torch.pow(ints(1), -1)
    ints(1).pow_(0.5)
    ints(1).div_(2)
    torch.div(ones(2), 2, rounding_mode="up")
    torch.floor_divide(ints(1), 0)
    torch.remainder(ints(1), 0)
    torch.fmod(ints(1), ints(0))
    torch.round(ints(1), decimals=1)
    torch.neg(bools(1, 0))
    bools(1, 0) - bools(1, 1)
    1 - bools(1, 0)
    -bools(1)
    torch.sub(ones(2), bools(1, 0), alpha=True)
    torch.add(ints(1), ints(1), alpha=0.5)
    torch.add(ones(2), ones(2), alpha=1j)
    ones(2).map_(ones(3), lambda a, b: a)
    ones(2).map_(ones(2), lambda a, b: "x")
    ones(2).apply_(lambda a: "x")
    torch.fft.fft(ones(2), n=0)
    torch.fft.fft(ones(()))
    torch.fft.fft(ones(2), norm="other")
    torch.fft.rfft(ones(2) * 1j)
    torch.fft.irfft(ones(2), n=0)
    torch.fft.ihfft(ones(2) * 1j)
    torch.fft.fft2(ones(2))
    torch.fft.fftn(ones(2, 2), s=(2, 2), dim=(0,))
    torch.fft.fftn(ones(2, 2), s=(2, 2, 2))
    torch.fft.fftn(ones(2, 2), dim=(0, 0))
    torch.fft.irfftn(ones(2, 2), s=(2, 0))
    torch.fft.hfft(ones(2), n=0)
    torch.stft(ones(8), 4, window=ones(4), align_to_window=True, return_complex=True)
    torch.stft(ones(8), 4, window=ones(4) * 1j, onesided=True, return_complex=True)
    torch.stft(ones(8) * 1j, 4, window=ones(4), onesided=True, return_complex=True)
    torch.stft(ones(8), 4)
    torch.istft(ones(3, 4), 4)
    torch.istft(ones(3, 4) * 1j, 4, window=ones(4) * 1j)
    torch.istft(ones(3, 4) * 1j, 4, window=ones(4) * 1j, return_complex=True, onesided=True)
    torch.gather(ones(2, 2), 0, ones(2, 2))
    torch.gather(ones(2, 2), 0, ints(1))
    torch.gather(ones(2, 2), 0, ints(5, 5).reshape(1, 2))
    torch.gather(ones(2, 2), 2, ints(0, 0).reshape(1, 2))
    torch.gather(ones(2, 2), 1, ints(0, 0, 0).reshape(3, 1))
    ones(2, 2).scatter_(0, ints(0, 0).reshape(1, 2), ones(1, 1))
    ones(2, 2).scatter_add_(0, ints(0, 0, 0).reshape(1, 3), ones(1, 3))
    ones(2).scatter_(0, ints(0), ones(1).double())
    ones(2).scatter_(0, ints(0), 1, reduce="mean")
    ones(2, 2).index_add_(0, ints(0), ones(1, 3))
    ones(2, 2).index_reduce_(0, ints(0), ones(1, 3), "mean")
    ones(2, 2).index_copy_(0, ints(0, 0).reshape(1, 2), ones(2, 2))
    ones(2, 2).index_copy_(0, ints(0, 1), ones(()))
    ones(2, 2).index_copy_(0, ints(0), ones(2))
    ones(2, 2).index_copy_(0, ints(0, 1), ones(1, 2))
    ones(2, 2).index_copy_(0, ones(1), ones(1, 2))
    ones(2, 2).index_copy_(0, ints(0), ones(1, 2).double())
    ones(2, 2).index_fill_(0, ones(1), 1)
    ones(2, 2).index_fill_(0, ints(0, 0).reshape(1, 2), 1)
    ones(2, 2).index_fill_(0, ints(0), ones(2))
    ones(2, 2).index_fill_(0, ints(3), 1)
    ones(2, 2).index_select(0, ints(0, 0).reshape(1, 2))
    ones(2, 2).index_select(0, ints(2))
    ones(2, 2).index_select(2, ints(0))
    ones(2)[0, 0]
    ones(2)[0, :, 0]
    ones(2)[..., 0, 0]
    ones(2)[ones(2)]
    ones(2)[ints(5)]
    ones(2)[bools(1, 0, 1)]
    ones(3, 3)[ints(0, 1), ints(0, 1, 2)]
    ones(2)["x"]
    ones(2)[1.5]
    ones(2)[5]
    ones(2)[-3]
    ones(2)[::-1]
    ones(2).index_put_((ints(0), ints(0)), ones(1))
    ones(2, 2).index_put_((ints(0),), ones(3))
    ones(2).index_put_((ints(0),), ones(1).double())
    ones(2).index_put_((ones(1),), ones(1))
    ones(2).index_put_((ints(7),), ones(1))
    torch.take(ones(2), ones(1))
    torch.take(ones(2), ints(3))
    torch.take(zeros(0), ints(0))
    torch.take_along_dim(ones(2, 2), ones(2, 2), 0)
    torch.take_along_dim(ones(2, 2), ints(0), 0)
    ones(2).put_(ones(1), ones(1))
    ones(2).put_(ints(0), ones(2))
    ones(2).put_(ints(4), ones(1))
    ones(2).masked_scatter_(ints(1, 0), ones(2))
    torch.masked_select(ones(2), ints(1, 0))
    torch.unravel_index(ones(2), (2, 2))
    torch.unravel_index(ints(1), (-2, 2))
    torch.select_scatter(ones(2, 2), ones(3), 0, 0)
    torch.slice_scatter(ones(2, 2), ones(3, 2), 0)
    torch.diagonal_scatter(ones(2, 2), ones(3))
    torch.where(ones(2), ones(2), ones(2))
    torch.where(bools(1, 0), ones(3), ones(2))
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "ones(2).repeat(-1)": "Trying to create tensor with negative dimension: the repeats are [-1]",
    "ones(2).tile(-1)": "Trying to create tensor with negative dimension: the repeats are [-1]",
    "torch.repeat_interleave(ones(2), ones(2))":
        '"repeat_interleave" not implemented for \'Float\': repeats has to be a Long or Int tensor',
    'torch.meshgrid(ones(2), ones(2, 2), indexing="ij")':
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: [2, 2]",
    "torch.linalg.vander(ones(()))":
        "linalg.vander: The input tensor x must have at least one dimension.",
    "torch.zeros(2, -1)": "Trying to create tensor with negative dimension -1: [2, -1]",
    "torch.linspace(0, 1j, 3, dtype=torch.float32)":
        "torch.linspace(): inferred dtype ComplexFloat can't be safely cast to passed dtype Float",
    "torch.full((2,), 1j, dtype=torch.float32)":
        "value cannot be converted to type float32 without overflow: 1j",
    "torch.tril_indices(-1, 2)": "row must be non-negative, got -1",
    "torch.triu_indices(2, -1)": "col must be non-negative, got -1",
    "torch.hann_window(3, dtype=torch.int64)":
        "hann_window expects floating point dtypes, got: torch.int64",
    "torch.hamming_window(3, dtype=torch.int32)":
        "hamming_window expects floating point dtypes, got: torch.int32",
    "torch.bartlett_window(3, dtype=torch.bool)":
        "bartlett_window expects floating point dtypes, got: torch.bool",
    "torch.addcdiv(ints(1), ints(1), ints(1))":
        "addcdiv does not divide integers by integers: use self + value * torch.trunc(tensor1 /",
    "torch.lerp(ones(2), ones(2).double(), 0.5)":
        "expected dtype float32 for `end` but got dtype float64",
    "torch.lerp(ints(1), ints(2), 0.5)": '"lerp" not implemented for \'Long\'',
    "torch.lerp(ones(2), ones(2), ones(2).double())":
        "expected dtype float32 for `weight` but got dtype float64",
    "torch.clamp(ones(2) * 1j, 0)": '"clamp" not implemented for \'ComplexFloat\'',
    "torch.bitwise_and(ones(2), 1)": '"bitwise_and" not implemented for \'Float\'',
    "torch.bitwise_left_shift(ones(2), 1)": '"bitwise_left_shift" not implemented for \'Float\'',
    "torch.gcd(ones(2), ones(2))": '"gcd" not implemented for \'Float\'',
    "torch.sign(ones(2) * 1j)": '"sign" not implemented for \'ComplexFloat\'',
    "torch.floor(ones(2) * 1j)": '"floor" not implemented for \'ComplexFloat\'',
    "torch.round(ones(2) * 1j)": '"round" not implemented for \'ComplexFloat\'',
    "torch.atan2(ones(2) * 1j, ones(2))": '"atan2" not implemented for \'ComplexFloat\'',
    "torch.hypot(ones(2) * 1j, ones(2))": '"hypot" not implemented for \'ComplexFloat\'',
    "torch.logaddexp2(ints(1), ints(1))": '"logaddexp2" not implemented for \'Long\'',
    "torch.copysign(ones(2) * 1j, ones(2))": '"copysign" not implemented for \'ComplexFloat\'',
    "torch.nextafter(ints(1), ints(2))": '"nextafter" not implemented for \'Long\'',
    "torch.special.zeta(ones(2) * 1j, ones(2))": '"special_zeta" not implemented for \'ComplexFloat\'',
    "torch.fft.rfftn(ones(2, 2) * 1j)": "rfftn expects a real input tensor, but got ComplexFloat",
    "torch._fft_c2c(ones(2), (0,), 0, True)": "_fft_c2c expects a complex tensor, got Float",
    "torch._fft_c2r(ones(2), (0,), 0, 2)": "_fft_c2r expects a complex tensor, got Float",
    "torch._fft_r2c(ones(2) * 1j, (0,), 0, True)": "_fft_r2c expects a real tensor, got ComplexFloat",
    "torch.stft(ones(2, 2, 8), 4, return_complex=True)":
        "stft: expected a 1D or 2D tensor of floating-point or complex numbers, got a 3D tensor of",
    "torch.stft(ones(8), 0, return_complex=True)": "stft: expected 0 < n_fft <= 8, but got n_fft=0",
    "torch.stft(ones(8), 4, hop_length=0, return_complex=True)":
        "stft: expected hop_length > 0, but got hop_length=0",
    "torch.stft(ones(8), 4, win_length=5, return_complex=True)":
        "stft: expected 0 < win_length <= n_fft, but got win_length=5",
    "torch.stft(ones(8), 4, window=ones(3), return_complex=True)":
        "stft: expected a 1D window tensor of size equal to win_length=4, but got window with size",
    "torch.stft(ones(3), 8, return_complex=True, center=False)":
        "stft: expected 0 < n_fft <= 3, but got n_fft=8",
    "torch.stft(ints(1, 2, 3, 4), 4, return_complex=True)":
        "stft: expected a 1D or 2D tensor of floating-point or complex numbers, got a 1D tensor of",
    "torch.istft(ones(3, 0) * 1j, 4)": "istft: input tensor cannot be empty.",
    "torch.istft(ones(3, 4) * 1j, 4, hop_length=0, window=ones(4))":
        "istft: expected 0 < hop_length <= win_length, got 0 and 4",
    "torch.istft(ones(3, 4) * 1j, 4, hop_length=5, window=ones(4))":
        "istft: expected 0 < hop_length <= win_length, got 5 and 4",
    "torch.istft(ones(3, 4) * 1j, 4, window=ones(3))":
        "istft: expected a 1D window tensor of size equal to win_length=4, but got window with",
    "torch.istft(ones(2, 2, 3, 4) * 1j, 4, window=ones(4))":
        "istft: expected a tensor with 2 or 3 dimensions, but got 4",
    "torch.istft(ones(3, 4) * 1j, 4, window=zeros(4))":
        "window overlap add min: 0.0: the windows leave samples out, which cannot be recovered;",
    "ones(2).index_add_(0, ints(0), ones(2))":
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got",
    "ones(2, 2).index_add_(0, ints(0, 0).reshape(1, 2), ones(2, 2))":
        "index_add_(): Index is supposed to be a vector",
    "ones(2, 2).index_add_(0, ones(1), ones(1, 2))":
        "index_add_(): Expected dtype int32/int64 for index, got Float",
    "ones(2, 2).index_add_(0, ints(0), ones(1, 2).double())":
        "index_add_(): self and source expected to have the same scalar type",
    'ones(2, 2).index_reduce_(0, ints(0), ones(1, 2), "sum")':
        "index_reduce_(): Expected reduce to be one of prod, mean, amax or amin but got sum.",
    "ones(2, 2).index_copy_(0, ints(0), ones(()))":
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice",
    "ones(2, 2).index_copy_(0, ints(0), ones(1, 3))":
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice",
    "ones(2, 2).index_copy_(0, ints(4), ones(1, 2))":
        "index_copy_(): index out of range in self: index 4 is out of bounds for dimension 0 with",
    "ones(2, 2).index_select(0, ones(1))":
        "index_select(): Expected dtype int32/int64 for index, got Float",
    "ones(2)[::0]": "slice step cannot be zero",
    "ones(())[0]":
        "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number",
    "ones(())[:]": "too many indices for tensor of dimension 0",
    "ones(2).put_(ints(0), ones(1).double())":
        "put_(): Expected source and self to have the same dtype, but got self.dtype = Float and",
    "ones(2).masked_fill_(ints(1, 0), 1)":
        "masked_fill_ only supports boolean masks, but got mask with dtype torch.int64",
    "ones(2).masked_fill_(bools(1, 0), ones(2))":
        "masked_fill only supports a 0-dimensional value tensor, but got tensor with 1",
    "ones(2).masked_fill_(bools(1, 0, 1), 1)":
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    "ones(2).masked_scatter_(bools(1, 1), ones(1))":
        "masked_scatter: expected number of elements of source to be >= number of ones in mask,",
    "ones(2).masked_scatter_(bools(1, 1), ones(2).double())":
        "masked_scatter: expected self and source to have same dtypes but got Float and Double",
    "torch.unravel_index(ints(1), 2.5)": "expected 'shape' to be int or sequence of ints, but got 2.5",
    "torch.select_scatter(ones(2, 2), ones(2), 0, 5)":
        "select_scatter(): index 5 out of range for tensor of size [2, 2] at dimension 0",
    "torch.nonzero_static(ones(2), size=-1)":
        "nonzero_static: 'size' must be a non-negative integer, got -1",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
