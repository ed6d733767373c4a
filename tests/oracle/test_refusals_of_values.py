"""What is refused of sparse tensors, storages and what makes tensors, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    torch.sparse.spdiags(ones(2, 3), ints(0, 1), (3, 3, 3))
    torch.sparse.spdiags(ones(2, 3), ints(0, 1), (3,))
    torch.UntypedStorage(2).byteswap(3)
    torch.nn.utils.rnn.pack_padded_sequence(ones(2, 2), [2, 3])
    torch.nn.utils.rnn.pack_padded_sequence(ones(2, 2), [1, 2])
    torch.nn.utils.rnn.pad_sequence([])
    torch.nn.utils.rnn.pad_sequence([ones(2)], padding_side="up")
    torch.sparse_coo_tensor(ints(0), ones(1))
    torch.sparse_coo_tensor(ints(0, 1).reshape(1, 2), ones(3), (3,))
    sparse().transpose(0, 2)
    sparse().indices()
    sparse().values()
    sparse().numpy()
    sparse() + torch.sparse_coo_tensor(ints(0).reshape(1, 1), ones(1), (9,))
    ones(2).indices()
    ones(2).coalesce()
    ones(2).is_coalesced()
    ones(2).crow_indices()
    torch.sparse.spdiags(ones(2, 3), ints(0, 0), (3, 3))
    torch.UntypedStorage(2)["x"]
    torch.UntypedStorage(2)[5]
    torch.UntypedStorage(2).__setitem__(0, "x")
    torch.UntypedStorage(2).copy_(torch.UntypedStorage(3))
    torch.FloatStorage(2)[5]
    torch.tensor(object())
    torch.tensor([1, object()])
    torch.tensor([[1], [1, 2]])
    torch.tensor("x")
    torch.tensor(None)
    torch.as_tensor(object())
    ones(2).type("x")
    torch.from_numpy(3)
    torch.frombuffer(b"", dtype=torch.float32)
    torch.frombuffer(bytearray(3), dtype=torch.float32)
    torch.frombuffer(bytearray(4), dtype=torch.float32, offset=4)
    torch.frombuffer(bytearray(4), dtype=torch.float32, count=2)
    torch.asarray(object())
    torch.device("cpu", -2)
    torch.device("cpu:x")
    torch.set_default_dtype(torch.int64)
    torch.set_num_threads(0)
    torch.set_num_threads("x")
    torch.can_cast(1, 2)
    torch.promote_types(1, 2)
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "torch.sparse_coo_tensor(ints(0, 1).reshape(1, 2), ones(2), (3, 3))":
        "number of dimensions must be sparse_dim (1) + dense_dim (0), but got 2",
    "torch.sparse.softmax(ones(2), 0)":
        "sparse.softmax(): expected a sparse tensor, got one of layout torch.strided:",
    "torch.sspaddmm(ones(2, 2), sparse(), ones(3, 2))":
        "sspaddmm: shapes cannot be multiplied (2x2 and 3x2): expected matrices, and as many rows",
    "torch.sparse.spdiags(ones(2, 3), ints(0), (3, 3))":
        "spdiags: expected a matrix, and as many offsets as it has rows",
    "torch.sparse.spdiags(ones(2, 3), ints(0, 1), (3, 3), layout=torch.strided)":
        "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got torch.strided",
    "ones(2, 2).to_sparse_csr().to_sparse_bsr((3, 3))":
        "to_sparse_bsr: tensor sparse size (2, 2) must be divisible by blocksize (3, 3)",
    "ones(3, 3).to_sparse_bsr((2, 2))":
        "to_sparse_bsr: tensor sparse size (3, 3) must be divisible by blocksize (2, 2)",
    "ones(2, 2).to_sparse(3)":
        "dense_to_sparse: sparse_dim argument must be in [1,2] range, but 3 is given",
    "ones(2, 2).to_sparse(-1)":
        "dense_to_sparse: sparse_dim argument must be in [1,2] range, but -1 is given",
    "torch.UntypedStorage(2)[-3]": "index -3 out of range for storage of size 2",
    "torch.UntypedStorage(2).copy_(ones(2))":
        "copy_(): argument 'src' must be torch.UntypedStorage, not Tensor",
    "torch.UntypedStorage(-1)": "a storage cannot have -1 bytes",
    "torch.UntypedStorage(2).resize_(-1)": "a storage cannot have -1 bytes",
    'torch.FloatStorage(2)["x"]':
        "can't index a <class 'torch.",
    "torch.FloatStorage(2).copy_(ones(2))": "copy_(): argument 'src' must be torch.Storage, not Tensor",
    "torch.TypedStorage(wrap_storage=3, dtype=torch.float32)":
        "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:",
    "torch.tensor(1j, dtype=torch.float32)": "can't convert complex to float32",
    'torch.FloatTensor("x")':
        "new() received an invalid combination of arguments (str): it takes sizes, one tensor, or",
    "torch.FloatTensor(ints(1))":
        "expected a tensor of torch.float32 on cpu (got one of torch.int64 on cpu): convert it",
    "torch.Tensor(object())":
        "new() received an invalid combination of arguments (object): it takes sizes, one tensor,",
    'ones(2).new("x")':
        "new() received an invalid combination of arguments (str): it takes sizes, one tensor, or",
    "ones(2).to(object())":
        "to() received an invalid combination of arguments - argument 1 must be torch.dtype,",
    "torch.set_default_dtype(3)": "only floating-point types are supported as the default type, got 3",
    "torch.finfo(torch.int64)": "torch.finfo() requires a floating point input type, got torch.int64",
    "torch.iinfo(torch.float32)": "torch.iinfo() requires an integer input type, got torch.float32",
    "torch.get_default_dtype(1)": "get_default_dtype() takes 0 positional arguments but 1 was given",
    'torch.result_type(ones(2), "x")':
        "result_type(): argument 'other' must be Tensor or Number, not str",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
