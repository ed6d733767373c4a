import torch

a = torch.arange(6.0).reshape(2, 3)
print(a @ a.T, torch.matmul(a, torch.ones(3)), a.mv(torch.ones(3)), torch.outer(a[0], a[1]))
print(
    torch.einsum("ij,kj->ik", a, a),
    torch.tensordot(a, a, dims=([1], [1])),
    torch.addmm(torch.ones(2, 2), a, a.T),
)
m = torch.tensor([[4.0, 1.0], [2.0, 3.0]])
print(torch.linalg.det(m), torch.linalg.inv(m), torch.linalg.solve(m, torch.tensor([1.0, 2.0])))
print(torch.linalg.cholesky(m @ m.T), torch.trace(m), torch.diag(m), m.tril(), torch.linalg.norm(m))
print(torch.linalg.matrix_rank(m), torch.linalg.eigvalsh(m + m.T), torch.bmm(m[None], m[None]))
