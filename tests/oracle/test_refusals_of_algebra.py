"""What is refused of linear algebra, beside PyTorch: a call a line."""

from refusals import refusals_are

CALLS = """
    torch.tensordot(ones(2, 2), ones(2, 2), ((0, 1), (0,)))
    torch.tensordot(ones(2, 3), ones(2, 3), -1)
    torch.tensordot(ones(2), ones(2), 2)
    torch.bilinear(ones(2, 3), ones(2, 2, 3), ones(1, 3, 3), None)
    torch.bilinear(ones(2, 3), ones(2, 3), ones(1, 2, 3), None)
    torch.bilinear(ones(2, 3), ones(2, 2), ones(1, 3, 3), None)
    torch.linalg.multi_dot([ones(2)])
    torch.linalg.multi_dot([ones(2, 2, 2), ones(2, 2)])
    torch.linalg.multi_dot([ones(2, 2), ones(2, 2, 2), ones(2, 2)])
    torch.linalg.multi_dot([ones(2, 2), ones(2), ones(2, 2)])
    torch.linalg.multi_dot([ones(2, 3), ones(2, 3)])
    torch.chain_matmul(ones(2), ones(2, 2))
    torch.cholesky_solve(ones(3, 1), ones(2, 2))
    torch.cholesky_solve(ones(2), ones(2, 2))
    torch.linalg.cholesky(ones(2, 3))
    torch.linalg.cholesky(ones(2))
    torch.linalg.cholesky(ints(1, 1))
    torch.einsum("ij,jk", ones(2, 3), ones(2, 3))
    torch.einsum("ij,jk->iq", ones(2, 3), ones(3, 2))
    torch.einsum("ij->ii", ones(2, 2))
    torch.einsum("ii", ones(2, 3))
    torch.einsum("i.j", ones(2))
    torch.einsum("i1", ones(2))
    torch.einsum("ij", ones(2))
    torch.einsum("i->...", ones(2, 2))
    torch.linalg.ldl_solve(ones(2, 2), ints(1, 1, 1), ones(2, 1))
    torch.linalg.ldl_factor(ones(2, 3))
    torch.lobpcg(ones(4, 4), k=2)
    torch.pca_lowrank(ones(3, 3), q=4)
    torch.pca_lowrank(ones(3, 3), niter=-1)
    torch.linalg.lu_solve(ones(2, 2), ints(1, 1), ones(2, 1))
    torch.linalg.lu_solve(ones(2, 2), ints(1, 1, 1).int(), ones(2, 1))
    torch.linalg.det(ones(2, 3))
    torch.linalg.slogdet(ones(2, 3))
    torch.linalg.inv(ones(2, 3))
    torch.linalg.eig(ones(2, 3))
    torch.linalg.eigh(ones(2, 3))
    torch.linalg.eigh(ones(2, 2), "X")
    torch.linalg.eigvalsh(ones(2, 2), "low")
    torch.linalg.matrix_exp(ones(2, 3))
    torch.linalg.matrix_exp(ones(2))
    torch.linalg.matrix_power(ones(2, 3), 2)
    torch.linalg.norm(ones(2, 2), dtype=torch.int64)
    torch.linalg.norm(ones(2, 2, 2), ord=2)
    torch.linalg.norm(ones(2, 2), ord="other")
    torch.linalg.norm(ones(2, 2), ord=3)
    torch.linalg.norm(ones(2, 2), dim=(0, 0))
    torch.linalg.vector_norm(ints(1))
    torch.linalg.vector_norm(ones(2), dtype=torch.int64)
    torch.linalg.vector_norm(ones(2) * 1j, dtype=torch.float32)
    torch.linalg.matrix_norm(ones(2))
    torch.linalg.matrix_norm(ones(2, 2), ord=0.5)
    torch.renorm(ones(2, 2), 2, 0, -1.0)
    torch.renorm(ones(2), 2, 0, 1.0)
    torch.linalg.cond(ones(2, 2), p=3)
    torch.linalg.cond(ones(2, 2), p="other")
    torch.linalg.lstsq(ones(2, 2), ones(3, 1))
    torch.linalg.lstsq(ones(2, 2), ones(2, 1), driver="other")
    torch.linalg.lstsq(ones(2), ones(2))
    torch.linalg.solve(ones(2, 2), ones(3, 1))
    torch.linalg.solve(ones(2, 3), ones(2, 1))
    torch.linalg.solve_triangular(ones(2, 3), ones(2, 1), upper=True)
    torch.linalg.solve_triangular(ones(2, 2), ones(3, 1), upper=True)
    torch.linalg.tensorinv(ones(2, 3), ind=1)
    torch.linalg.tensorsolve(ones(2, 3), ones(2))
    torch.linalg.qr(ones(2, 2), mode="other")
    torch.linalg.qr(ones(2))
    torch.linalg.svd(ones(2))
    torch.linalg.svd(ones(2, 2), driver="gesvd")
    torch.linalg.householder_product(ones(2, 3), ones(2))
    torch.linalg.householder_product(ones(3, 2), ones(3))
    torch.ormqr(ones(3, 2), ones(2), ones(2, 2))
    torch.linalg.cross(ones(2), ones(2))
    torch.linalg.cross(ones(3), ones(3, 1))
    torch.cross(ones(3), ones(2))
    torch.cross(ones(2, 2), ones(2, 2))
    torch.trace(ones(2))
    torch.trace(ones(2, 2, 2))
    torch.dot(ones(2), ones(3))
    torch.dot(ones(2, 2), ones(2))
    torch.dot(ones(2), ones(2).double())
    torch.vdot(ones(2) * 1j, ones(2))
    torch.mv(ones(2, 2), ones(3))
    torch.addmv(ones(2), ones(2, 2, 2), ones(2))
    torch.addr(ones(2, 2), ones(2, 2), ones(2))
    torch.outer(ones(2, 2), ones(2))
    torch.ger(ones(2), ones(2, 2))
    torch.mm(ones(2), ones(2, 2))
    torch.mm(ones(2, 3), ones(2, 3))
    torch.bmm(ones(2, 2), ones(2, 2, 2))
    torch.bmm(ones(2, 2, 3), ones(2, 2, 3))
    torch.bmm(ones(1, 2, 2), ones(2, 2, 2))
    torch.addmm(ones(2, 2), ones(2, 3), ones(2, 2))
    torch.addmm(ones(3, 3), ones(2, 2), ones(2, 2))
    torch.baddbmm(ones(2, 2, 2), ones(2, 2), ones(2, 2, 2))
    torch.matmul(ones(()), ones(2))
    torch.matmul(ones(2, 3), ones(2, 3))
    torch.matmul(ones(2, 2), ones(2, 2).double())
    torch.inner(ones(2), ones(3))
    torch.cdist(ones(2), ones(2))
    torch.cdist(ones(2, 2), ones(2, 3))
    torch.cdist(ones(2, 2), ones(2, 2), p=-1)
    torch.cdist(ints(1, 1).reshape(1, 2), ones(2, 2))
    torch.cdist(ones(2, 2), ones(2, 2), compute_mode="other")
    torch.pdist(ones(2))
    torch.pdist(ones(2, 2), p=-1)
    torch.pdist(ints(1, 1).reshape(1, 2))
    torch.cosine_similarity(ints(1, 1), ints(1, 1))
    torch.corrcoef(ones(2, 2, 2))
    torch.cov(ones(2, 2, 2))
    torch.cov(bools(1, 0))
    torch.cov(ones(2, 2), fweights=ints(-1, 1))
    torch.cov(ones(2, 2), fweights=ones(2))
    torch.cov(ones(2, 2), fweights=ints(1))
    torch.cov(ones(2, 2), fweights=ints(0, 0))
    torch.cov(ones(2, 2), aweights=ints(1, 1))
    torch.cov(ones(2, 2), aweights=-ones(2))
    torch.cov(ones(2, 2), aweights=ones(2, 2))
"""
# Calls of which we say something else than PyTorch.
OWN = {
    "torch.tensordot(ones(2, 3), ones(2, 3), 1)":
        "contracted dimensions need to match, but first has size 3 in dim 1 and second has size 2",
    "torch.bilinear(ones(2, 3), ones(3, 3), ones(1, 3, 3), None)":
        "bilinear(): input batch dimensions do not match: got [2] and [3]",
    "torch.bilinear(ones(2, 3), ones(2, 3), ones(1, 3, 3), ones(2))":
        "bilinear(): bias size does not match weight size: got [2] but expected [1]",
    "torch.cholesky_inverse(ones(2, 3))":
        "cholesky_inverse: A must be batches of square matrices, got shape [2, 3]",
    'torch.einsum("i,i", ones(2))':
        "einsum(): fewer operands were provided (1) than specified in the equation (2)",
    'torch.einsum("i", ones(2), ones(2))':
        "einsum(): more operands were provided (2) than specified in the equation (1)",
    'torch.einsum("i...", ones(()))':
        "einsum(): the number of subscripts in the equation (1) does not match the number of",
    "torch.linalg.ldl_solve(ones(2, 3), ints(1, 1), ones(2, 2))":
        "torch.linalg.ldl_solve: LD must be batches of square matrices, got [2, 3]",
    "torch.linalg.ldl_solve(ones(2, 2), ints(1, 1), ones(3, 1))":
        "torch.linalg.ldl_solve: B must be matrices with 2 rows, got shape [3, 1]",
    "torch.linalg.ldl_solve(ones(2, 2), ones(2), ones(2, 1))":
        "torch.linalg.ldl_solve: Expected pivots to be integers. Got torch.float32",
    "torch.pca_lowrank(ints(1, 2))": "input must be floating, got torch.int64",
    "torch.linalg.lu_solve(ones(2, 3), ints(1, 1).int(), ones(2, 2))":
        "linalg.lu_solve: LU must be batches of square matrices, but they are 2 by 3 matrices",
    "torch.linalg.lu_solve(ones(2, 2), ints(1, 1).int(), ones(3, 1))":
        "linalg.lu_solve: Incompatible shapes of LU and B for the equation AX = B (2x2 and 3x1)",
    "torch.linalg.lu_factor(ones(2))":
        "torch.lu_factor: The input tensor A must have at least 2 dimensions.",
    "torch.lu_unpack(ones(2, 2), ints(1, 1))":
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.",
    "torch.lu_unpack(ones(2, 2), ints(1).int())":
        "torch.lu_unpack: LU_pivots of shape [1] do not fit LU_data of shape [2, 2]",
    'torch.linalg.norm(ones(2), ord="fro")': "linalg.norm: Order fro not supported for vectors.",
    'torch.linalg.vector_norm(zeros(0), ord=float("inf"))':
        "linalg.vector_norm cannot compute the inf norm on an empty dimension 0 because the",
    "torch.linalg.vector_norm(zeros(0, 2), ord=-1, dim=0)":
        "linalg.vector_norm cannot compute the -1 norm on an empty dimension 0 because the",
    "torch.linalg.matrix_norm(ones(2, 2), dim=(0,))":
        "linalg.matrix_norm: dim must be a 2-tuple. Got [0]",
    'torch.norm(ones(2, 2), "nuc", dim=(0,))': "linalg.matrix_norm: dim must be a 2-tuple. Got [0]",
    'torch.norm(ones(2, 2), "other")': "only valid string values are 'fro' and 'nuc', found other",
    "torch.renorm(ones(2, 2), -2, 0, 1.0)": "renorm: non-positive norm -2 not supported",
    "torch.linalg.cond(ones(2, 3), p=1)":
        "linalg.cond: A must be batches of square matrices, but they are 2 by 3 matrices",
    "torch.linalg.cond(ones(2))": "linalg.cond: The input tensor A must have at least 2 dimensions.",
    "torch.linalg.pinv(ones(2))": "linalg.pinv: The input tensor A must have at least 2 dimensions.",
    "torch.linalg.pinv(ones(2, 3), hermitian=True)":
        "linalg.pinv: A must be batches of square matrices, but they are 2 by 3 matrices",
    "torch.linalg.lstsq(ones(2, 2), ones(2, 1).double())":
        "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's",
    "torch.linalg.solve(ones(2, 2), ones(2, 1).double())":
        "linalg.solve: Expected A and B to have the same dtype, but found Float and Double instead",
    "torch.triangular_solve(ones(3, 1), ones(2, 2))":
        "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (2x2 and",
    "torch.linalg.tensorinv(ones(2, 2), ind=0)":
        "Expected a strictly positive integer for 'ind', got 0",
    "torch.mv(ones(2), ones(2))": "vector + matrix @ vector expected, got 1, 1",
    "torch.addmv(ones(3), ones(2, 2), ones(2))":
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    "torch.addr(ones(2, 2), ones(3), ones(2))":
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    "torch.addbmm(ones(2, 2), ones(2, 2), ones(2, 2, 2))": "addbmm: batches must be 3D tensors, got 2D",
    "torch.addbmm(ones(2, 2), ones(1, 2, 3), ones(2, 2, 2))":
        "addbmm: Incompatible matrix sizes for bmm, batches of shapes [1, 2, 3] and [2, 2, 2]",
    "torch.addbmm(ones(2, 2), ones(2, 2, 3), ones(2, 2, 2))":
        "addbmm: Incompatible matrix sizes for bmm, batches of shapes [2, 2, 3] and [2, 2, 2]",
    "torch.addbmm(ones(3, 2), ones(2, 2, 2), ones(2, 2, 2))":
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    "torch._int_mm(ones(2, 2).to(torch.int8), ones(3, 2).to(torch.int8))":
        "int_mm: self.size(1) needs to match mat2.size(0) but got 2 and 3",
    "torch._int_mm(ones(2, 2), ones(2, 2))":
        "int_mm: Expected self dtype to be int8 or uint8 but got Float",
}  # fmt: skip

test_it_is_refused = refusals_are(CALLS, OWN)
