"""What rules and checks of ops refuse that calls by public names seldom reach, beside PyTorch: a call a line."""

from refusals import names, refusals_are


def known(lib):
    """What calls may name besides: ops by their own names, and tensors that have no memory."""
    return names(lib) | {
        "aten": lib.ops.aten,
        "meta": lambda *shape: lib.ones(shape, device="meta"),
    }


CALLS = """
    torch.cat(ones(2, 2))
    torch.stack(ones(2, 2))
    torch.hstack(ones(2, 2))
    torch.vstack(ones(2, 2))
    torch.column_stack(ones(2, 2))
    torch.roll(ones(()), 1, 0)
    aten._chunk_cat([ones(0)], 0, 2)
    aten._chunk_cat([ones(2), ints(1, 2)], 0, 2)
    torch.fft.rfftn(ones(2), dim=())
    torch.fft.irfftn(ones(2), dim=())
    torch.fft.hfftn(ones(2), dim=())
    torch.fft.ihfftn(ones(2), dim=())
    torch._foreach_addcmul([ones(1)], [ones(1)], [ones(1)], ones(1, 1))
    torch._foreach_addcdiv([ones(1)], [ones(1)], [ones(1)], ones(2))
    torch.nonzero(ones(2), as_tuple=True, out=ints(1))
    aten._convert_indices_from_coo_to_csr(ints(1, 2).reshape(1, 2), 3)
    torch.chain_matmul()
    torch.einsum("ij")
    torch.einsum("")
    torch.svd_lowrank(ones(3, 3), q=-1)
    torch.linalg.vector_norm(ones(2), 1j)
    torch.addmm(ones(2, 2).double(), ones(2, 2), ones(2, 2))
    torch.linalg.lstsq(ones(2, 2), ones(()))
    torch.linalg.householder_product(ones(2, 3, 2), ones(3, 2))
    torch.linalg.householder_product(ones(3, 2), ones(2).double())
    torch.ormqr(ones(2, 3, 2), ones(3, 2), ones(2, 3, 2))
    torch.ormqr(ones(2, 3, 2), ones(2, 2), ones(1, 3, 2))
    F.scaled_dot_product_attention(ones(1, 3, 2, 2), ones(1, 2, 2, 2), ones(1, 2, 2, 2), enable_gqa=True)
    F.multi_margin_loss(ones(2, 3), ints(0, 1), weight=ones(3, 1))
    torch.convolution(ones(1, 2), ones(2, 2), None, [1], [0], [1], False, [0], 1)
    F.embedding_bag(ints(0, 1), ones(3), ints(0))
    F.embedding_bag(ints(0, 1), ones(3, 2), ints(0).reshape(1, 1))
    F.embedding_bag(ints(0, 1).reshape(1, 1, 2), ones(3, 2), ints(0))
    aten._embedding_bag(ones(3, 2), ints(0, 1), ints(0), False, 1, False, ones(2))
    F.fractional_max_pool2d(ones(1, 4, 4), 2, output_size=2, _random_samples=ones(1, 1, 2).double())
    F.interpolate(ones(1, 1, 2, 2), 2, mode="lanczos", antialias=True, align_corners=True)
    F.interpolate(ones(1, 1, 2, 2), 2, mode="lanczos")
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), key_padding_mask=ones(1, 2).int())
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), k=ones(1, 1, 2))
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), v=ones(1, 1, 2))
    attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), k=ones(1, 1, 2), v=ones(1, 1, 2), static_v=ones(1, 2, 2))
    torch._pad_packed_sequence(ones(3), ints(2, 1), False, 0.0, 1)
    F.pad(ones(1, 2), (-2, -2), mode="circular")
    F.pad(ones(1, 2), (-2, -1), mode="circular")
    torch.gru(ones(0, 1, 2), ones(1, 1, 2), [ones(6, 2), ones(6, 2)], False, 1, 0.0, False, False, False)
    F.mse_loss(ones(2), ones(2), weight=ones(3))
    F.l1_loss(ones(2), ones(2), weight=ones(1))
    torch._softmax(ones(2), 0, True)
    torch._log_softmax(ones(2), 0, True)
    aten.upsample_nearest2d.vec(ones(1, 1, 2, 2), None, None)
    aten.upsample_nearest2d.vec(ones(1, 1, 2, 2), [4, 4], [2.0, 2.0])
    ones(2).uniform_(-3e38, 3e38)
    ones(2).half().uniform_(-60000, 60000)
    ints(1).int().random_(-(1 << 63), None)
    ints(1).to(torch.uint8).random_(-(1 << 63), None)
    bools(1).random_(-(1 << 63), None)
    ones(2).half().random_(-(1 << 63), None)
    torch.masked.mean(ints(1, 2), mask=bools(1, 0))
    torch.masked.mean(ones(2), mask=bools(1, 0), dtype=torch.int64)
    torch.masked.median(ints(1, 2).reshape(1, 2), 1, mask=bools(0, 0).reshape(1, 2))
    torch.masked.var(ones(2), 0, unbiased=True, correction=1)
    torch.masked.std(ones(2), 0, unbiased=True, correction=1)
    torch.quantile(ones(3), torch.tensor([0.5, 1.5]))
    torch.nanquantile(ones(3), torch.tensor([-0.5]))
    aten.slice.Tensor(ones(()), 0)
    aten.slice.Tensor(ones(2), 0, 0, 1, 0)
    torch.tensor_split(ones(4), torch.tensor([1, 2], device="meta"))
    torch.logit(ints(1), "x")
    torch.linalg.vecdot(ones(()), ones(()), dim=1)
    torch.linalg.vander(bools(1, 0))
    torch._safe_softmax(ints(1, 2), 0)
    F.embedding_bag(ints(0, 1), ones(3, 2, 1), ints(0), max_norm=1.0)
    torch.repeat_interleave(ints(1, 2), output_size=7)
    torch.linalg.lu(ones(2, 2), pivot=2)
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "torch.diag_embed(ones(()))":
        "diag_embed: the diagonal needs a dimension, but the tensor has none",
    "aten._chunk_cat([ones(2, 3), ones(3, 3)], 1, 2)":
        "_chunk_cat expects tensors with more than 1 dimensions, of the same sizes before dimensi",
    "torch.meshgrid(ones(2), meta(2))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "torch.logspace(400, 400, 1, dtype=torch.int64)":
        "value cannot be converted to type int64 without overflow: inf",
    "torch.addcdiv(ones(1), ones(1), ones(1), value=1j)":
        "value cannot be converted to type float32 without overflow: addcdiv of float32 tensors t",
    "torch.addcmul(ones(1), ones(1), ones(1), value=1j)":
        "value cannot be converted to type float32 without overflow: addcmul of float32 tensors t",
    "torch.masked_fill(ones(2), bools(1, 0), torch.tensor(1j))":
        "value cannot be converted to type float32 without overflow: it is complex",
    "ones(2).masked_fill_(bools(1, 0), 1j)":
        "value cannot be converted to type float32 without overflow: 1j",
    "torch.istft(ones(5, 4) * 1j, 8, win_length=9)":
        "istft: expected 0 < win_length <= n_fft, got 9 and 8",
    "torch.istft(ones(5, 4) * 1j, 8, win_length=0, hop_length=1)":
        "istft: expected 0 < hop_length <= win_length, got 1 and 0",
    "torch._foreach_addcmul([ones(1)], [ones(1)], [ones(1)], meta(1))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "aten._convert_indices_from_coo_to_csr(ones(2), 3)":
        "\"convert_indices_from_coo_to_csr\" not implemented for 'Float'",
    "aten._convert_indices_from_csr_to_coo(ones(2), ints(1, 2))":
        "\"convert_indices_from_csr_to_coo\" not implemented for 'Float'",
    "aten._convert_indices_from_csr_to_coo(ints(0, 2).reshape(1, 1, 2), ints(1, 2))":
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimension",
    'torch.index_reduce(ones(3), 0, ints(0).short(), ones(1), "prod")':
        "index_reduce(): Expected dtype int32/int64 for index but got: Short",
    'torch.index_reduce(ones(3), 0, ones(1), ones(1), "prod")':
        "index_reduce(): Expected dtype int32/int64 for index but got: Float",
    "torch.cartesian_prod()":
        "cartesian_prod expects at least one vector",
    "torch.block_diag(ones(2), meta(2))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    'torch.einsum("ij->1", ones(2, 2))':
        "einsum(): invalid subscript '1' in the output, subscripts must be in [a-zA-Z]",
    'torch.einsum("ij->i.", ones(2, 2))':
        "einsum(): output subscript . does not appear in the equation for any input operand",
    "torch.pca_lowrank(ones(3))":
        "input must be a matrix, got shape [3]",
    "F.linear(ones(2, 3), ones(4, 3), ones(3))":
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension ",
    "torch.linalg.householder_product(ones(3, 2), meta(2))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "torch.ormqr(ones(3, 2), ones(2).double(), ones(3, 2))":
        "torch.ormqr: Expected input and tau to have the same dtype, but input has dtype torch.fl",
    "torch.ormqr(ones(3, 2), ones(2), ones(3, 2).double())":
        "torch.ormqr: Expected input and other to have the same dtype, but input has dtype torch.",
    "torch.ormqr(ones(3, 2), meta(2), ones(3, 2))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "torch.linalg.solve(ones(2, 2), ones(2), left=False)":
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.",
    "torch._int_mm(ones(2).to(torch.int8), ones(2, 2).to(torch.int8))":
        "int_mm: Expected self to be of dimension 2 but got 1",
    "aten._adaptive_avg_pool2d_backward(ones(2, 2), ones(2, 2))":
        "adaptive_avg_pool2d_backward: Expected 3D or 4D tensor, but got [2, 2]",
    "aten._adaptive_avg_pool2d_backward(ones(2, 2), ones(1, 4, 4))":
        "adaptive_avg_pool2d_backward: Expected dimensions 3 for `grad_output` but got dimensions",
    "F.scaled_dot_product_attention(ones(2, 2), ones(2, 2), meta(2, 2))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "aten.avg_pool2d_backward(ones(1, 3, 3), ones(1, 4, 4), [2, 2], [2, 2], [0, 0], False, True, None)":
        "Expected grad_output of spatial shape [2, 2], but got shape [1, 3, 3]",
    "F.conv1d(ones(1, 2), ones(2, 2))":
        "Expected 3-dimensional weight for conv1d, but got weight of size [2, 2]",
    "F.embedding(ints(0), ones(()), max_norm=1.0)":
        "'weight' must be 2-D, got shape []",
    'F.embedding_bag(ints(0, 1), ones(3, 2), ints(0), mode="mean", per_sample_weights=ones(2))':
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for",
    "aten._embedding_bag(ones(3), ints(0, 1), ints(0))":
        "weight has to be a 2D Tensor, but got [3]",
    "aten._embedding_bag(ones(3, 2), ints(0, 1), ints(0).reshape(1, 1))":
        "offsets has to be a 1D Tensor, but got [1, 1]",
    "aten._embedding_bag(ones(3, 2), ints(0, 1), ints(0), False, 0, False, ones(3))":
        "expected per_sample_weights of shape [2], got [3]",
    "aten._embedding_bag(ones(3, 2), ints(0, 1), zeros(0).long(), False, 0, False, None, True)":
        "include_last_offset: number of offsets should be at least 1",
    "F.fractional_max_pool2d(ones(1, 4, 4), 2, output_ratio=(0.5, 0.5, 0.5))":
        "fractional_max_pool2d requires output_ratio to either be a single float or 2",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), attn_mask=ints(1))":
        "expected `attn_mask` to be `None`, 2-D or 3-D but found 1-D tensor instead",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), key_padding_mask=bools(0, 1))":
        "For a 3-D `query`, expected `key_padding_mask` to be `None` or 2-D but found 1-D tensor ",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), static_v=ones(2, 2, 2))":
        "expecting static_v.size(0) of 1 and static_v.size(2) of 2, but got [2, 2, 2]",
    "attend(ones(2, 1, 2), ones(2, 1, 2), ones(2, 1, 2), static_v=ones(1, 2, 3))":
        "expecting static_v.size(0) of 1 and static_v.size(2) of 2, but got [1, 2, 3]",
    "torch._pack_padded_sequence(ones(2, 2), ones(2), False)":
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cpu torch.float32 tensor",
    "torch._pack_padded_sequence(ones(2, 2), ints(1, 2).reshape(1, 2), False)":
        "'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu torch.int64 tensor",
    "torch.constant_pad_nd(ones(2), (1, 1, 1, 1))":
        "Length of pad should be no more than twice the number of dimensions of the input. Pad le",
    "aten.reflection_pad1d_backward(ones(1, 3), ones(1, 4), [1, 1])":
        "grad_output of shape [1, 3] does not fit an input of shape [1, 4] with padding [1, 1]",
    "aten.replication_pad2d_backward(ones(1, 3, 3), ones(1, 4, 4), [1, 1, 1, 1])":
        "grad_output of shape [1, 3, 3] does not fit an input of shape [1, 4, 4] with padding [1,",
    "aten._pad_circular(ones(2), [1, 1])":
        "Invalid padding size, expected -2 but got 2 numbers for an input of 1 dimensions",
    "aten.max_pool2d_with_indices_backward(ones(1, 3, 3), ones(1, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False, ints(0, 1, 2, 3).reshape(1, 2, 2))":
        "Expected grad_output of shape [1, 2, 2], but got [1, 3, 3]",
    "torch.gru_cell(ones(1, 2), ones(2), ones(6, 2), ones(6, 2))":
        "input, hidden states and weights of a cell are 2D, got [2]",
    "aten.max_unpool2d(ones(1, 0, 2), zeros(1, 0, 2).long(), [4, 4])":
        "Expected input to have non-zero size for non-batch dimensions, but got [1, 0, 2]",
    "aten.max_unpool3d(ones(1, 0, 2, 2), zeros(1, 0, 2, 2).long(), [4, 4, 4], [2, 2, 2], [0, 0, 0])":
        "Expected input to have non-zero size for non-batch dimensions, but got [1, 0, 2, 2]",
    "aten.upsample_nearest2d.vec(ones(1, 1, 2, 2), None, [2.0])":
        "scale_factors must have 2 numbers, got 1",
    "aten.upsample_nearest2d_backward(ones(1, 1, 3, 3), [4, 4], [1, 1, 2, 2])":
        "Expected grad_output to have the shape [1, 1, 4, 4], but got [1, 1, 3, 3]",
    "aten.upsample_bilinear2d_backward(ones(1, 1, 3, 3), [4, 4], [1, 1, 2, 2], False)":
        "Expected grad_output to have the shape [1, 1, 4, 4], but got [1, 1, 3, 3]",
    "torch.gradient(ones(3), spacing=(meta(3),))":
        "Expected all tensors to be on the same device, but found at least two devices, cpu and m",
    "torch.histogramdd(ones(3, 2), 2, range=(0.0, 1.0))":
        "torch.histogramdd(): if range is specified, it should have 4 elements, a lower and an up",
    "torch.histogram(ones(3), 2, range=(0.0, 1.0, 2.0))":
        "torch.histogram(): if range is specified, it should have 2 elements, a lower and an uppe",
    "torch.unique(ones(()), dim=0)":
        "unique_dim: a tensor of no dimensions has no slices",
    "torch.unique_consecutive(ones(()), dim=0)":
        "unique_dim: a tensor of no dimensions has no slices",
    "ones(2).set_(meta(2))":
        "Attempted to set the storage of a tensor on device cpu to a storage on different device ",
    "ones(2).set_(meta(2).untyped_storage(), 0, (2,))":
        "Attempted to set the storage of a tensor on device cpu to a storage on different device ",
    "aten._scaled_dot_product_flash_attention_for_cpu(ones(1, 1, 2, 2).int(), ones(1, 1, 2, 2).int(), ones(1, 1, 2, 2).int())":
        "_scaled_dot_product_flash_attention_for_cpu: expected query, key and value of one floati",
    "aten._scaled_dot_product_flash_attention_for_cpu(ones(1, 1, 2, 2), ones(1, 1, 2, 2).double(), ones(1, 1, 2, 2))":
        "_scaled_dot_product_flash_attention_for_cpu: expected query, key and value of one floati",
    "ones(2).set_(meta(2), 0, (2,))":
        "Attempted to set the storage of a tensor on device cpu to a storage on different device ",
    "ones(2).set_(ints(1).storage())":
        "Expected a Storage of type torch.float32 or an UntypedStorage, but got type torch.int64",
    "ones(2).set_(3)":
        "set_(): argument 'source' must be Tensor or Storage, not int",
    "torch.linalg.norm(ones(2, 2), 1j)":
        "linalg.matrix_norm: Order 1j not supported.",
}  # fmt: skip

test_words = refusals_are(CALLS, OWN, known)
