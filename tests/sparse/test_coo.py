"""Sparse tensors in coordinates against PyTorch: what they hold, products, gradients, optimizers."""

import io
import pickle
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(
    "ignore:Sparse CSR:UserWarning"
)  # PyTorch's, once a process


def names(lib):
    i = lib.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
    v = lib.tensor([3.0, 4.0, 5.0, 1.0], requires_grad=True)
    d = lib.arange(12.0).reshape(3, 4).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"torch": lib, "i": i, "v": v, "d": d, "s": lib.sparse_coo_tensor(i, v, (2, 3))}


def plain(value):
    if isinstance(value, torch.Tensor | pt.Tensor) and not value.is_sparse:
        return value.detach().tolist(), list(value.shape), value.requires_grad
    return repr(value)


def outcome(lib, program):
    try:
        return plain(eval(program, names(lib)))
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__


PROGRAMS = [
    "s.to_dense()",
    "s.coalesce().indices()",
    "s.coalesce().values()",
    "s._nnz()",
    "s.is_coalesced()",
    "s.sparse_dim()",
    "s.dense_dim()",
    "s.is_sparse",
    "s.layout",
    "s.shape",
    "torch.sparse.mm(s,d)",
    "s@d",
    "s.mm(d)",
    "s.matmul(d[:,0])",
    "torch.mm(s.detach(),d.detach())",
    "s.t().to_dense()",
    "(s*2).to_dense()",
    "(2*s).to_dense()",
    "(s/2).to_dense()",
    "(s+s).to_dense()",
    "torch.sparse.sum(s)",
    "s.indices()",
    "torch.ones(2,3)+s.detach()",
    "s.requires_grad",
    "s.is_leaf, s.grad_fn is None, s.detach().is_leaf",
    "torch.sparse_coo_tensor(torch.tensor([[0,1]]),torch.ones(2,2),(3,2)).to_dense()",
    "torch.tensor([[0.,1.],[2.,0.]]).to_sparse().to_dense()",
    "torch.tensor([[0.,1.],[2.,0.]]).to_sparse()",
    "torch.sparse_coo_tensor(i,v.detach()).shape",
    "torch.sparse_coo_tensor((2,3)).to_dense()",
    "torch.sparse_coo_tensor(i,v.detach(),(2,3)).coalesce()",
    "s.detach()",
    "torch.ones(2,3).is_sparse",
    "(-s).to_dense()",
    "s.dtype",
    "s.double().dtype",
    "torch.sparse.mm(s, s.t()).to_dense()",
    "(s.detach() @ s.detach().t()).to_dense()",
    "torch.sparse.mm(s.detach(), torch.zeros(3, 2).to_sparse()).to_dense()",
    "torch.sparse.mm(s, s)",
    "torch.mm(s, d)",
    "torch.matmul(d.detach()[:2, :2], s.detach())",
    "d.detach()[:2, :2] @ s.detach()",
    "torch.spmm(s, d)",
    "torch.dsmm(s, d)",
    "torch.smm(s.detach(), d.detach())",
    "torch.hspmm(s.detach(), d.detach())",
    "s.detach().smm(d.detach())",
    "torch.eye(2, 4).to_sparse().sspaddmm(s.detach(), d.detach())",
    "torch.hsmm(s.detach().coalesce(), d.detach())",
    "torch.sspaddmm(torch.eye(2, 4).to_sparse(), s.detach(), d.detach(), beta=2, alpha=-1)",
    "torch.smm(d, d)",
    "torch.smm(s, s)",
    "torch.hspmm(s, d.t())",
    "torch.sspaddmm(torch.eye(3).to_sparse(), s, d)",
    "torch.addmm(torch.ones(2, 4), s, d, beta=2, alpha=3)",
    "torch.sparse.addmm(torch.ones(2, 4), s, d)",
    "torch.bmm(torch.stack([s.detach(), s.detach()]), torch.stack([d, d]))",
    "(s * s).to_dense()",
    "(s.detach() * torch.ones(2, 3).to_sparse()).to_dense()",
    "(torch.ones(2, 3).to_sparse() * torch.eye(2, 3).to_sparse()).to_dense()",
    "(s.detach() * torch.tensor([[0., 2., 0.], [0., 0., 0.]]).to_sparse()).to_dense()",
    "(s.detach() * torch.zeros(2, 3).to_sparse()).to_dense()",
    "(s.detach() * torch.arange(6.).reshape(2, 3)).to_dense()",
    "torch.cat([s.detach(), s.detach()], 1).to_dense()",
    "torch.stack([s.detach(), s.detach()], 1).to_dense()",
    "s.detach().unsqueeze(1).shape",
    "s.detach().index_select(1, torch.tensor([2, 0])).to_dense()",
    "s.detach()[1].to_dense()",
    "s.detach()[1, 2]",
    "torch.sqrt(s.detach()).to_dense()",
    "s.detach().abs().to_dense()",
    "s.detach().pow(2).to_dense()",
    "torch.ones(2, 3).sparse_mask(s.detach().coalesce()).to_dense()",
    "torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, -1]), (3, 3)).to_dense()",
    "(s-s*3).to_dense()",
    "s.add(s,alpha=-2).to_dense()",
    "s.sub(s*2,alpha=0.5).to_dense()",
    "s.detach().add_(s.detach(),alpha=2).to_dense()",
    "s.detach().clone().mul_(3).coalesce()",
    "torch.ones(2,3)-s.detach()",
    "torch.ones(2,3).add(s.detach(),alpha=2)",
    "torch.ones(2,3).add_(s.detach(),alpha=-2)",
    "torch.ones(2,3).sub_(s.detach())",
    "torch.mul(s.detach(),torch.tensor(3.)).to_dense()",
    "torch.mul(torch.tensor(3.),s.detach()).to_dense()",
    "(torch.tensor(3.)*s).to_dense()",
    "(s*torch.tensor(3.)).to_dense()",
    "(s/torch.tensor(2.)).to_dense()",
    "torch.div(s.detach(),2).to_dense()",
    "s.transpose(0,1).to_dense()",
    "s.transpose(0,0).is_coalesced()",
    "s.coalesce().transpose(0,1).is_coalesced()",
    "torch.sub(s.detach(),s.detach()*2).to_dense()",
    "torch.neg(s.detach()).to_dense()",
    "s.norm()",
    "s.detach().norm(1)",
    "s.sum()",
    "s.sum(0).to_dense()",
    "s.clone().is_coalesced()",
    "torch.mm(d.t().detach()[:,:2],s.detach())",
    "d.detach().t()[:,:2]@s.detach()",
    "s.mv(d[:,1])",
    "s.add(torch.sparse_coo_tensor((3,3)))",
    "s.detach().add_(torch.ones(2,3))",
    "torch.ones(2,3,4).to_sparse().t()",
    "torch.ones(2,3).to_sparse(1).t()",
    "torch.ones(2,3,4).to_sparse(2).t()",
    "torch.ones(2,3,4).to_sparse(2).transpose(0,1).to_dense()",
    "torch.arange(3.).to_sparse().t().to_dense()",
    "torch.tensor(2.).to_sparse().t().to_dense()",
    "torch.ones(2,3).to_sparse(0)",
    "torch.ones(2,3).to_sparse(3)",
    "torch.ones(2,3).to_sparse(-1)",
    "torch.tensor(2.).to_sparse(0).to_dense()",
    "s.mv(d)",
    "s.mm(s.detach()[0])",
    "s.mul(torch.ones(4))",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_pytorch(program):
    assert outcome(torch, program) == outcome(pt, program)


@pytest.mark.parametrize("method", [
    "s.mm(d)", "s.mul(2)", "s.add(s)", "s.sub(s,alpha=2)", "s.neg()", "s.sum()", "s.t()", "s.clone()", "s.double()", "s/4",
    "torch.ones(2,3)+s", "s.mv(d[:,1])", "torch.mm(s,d)", "torch.matmul(s,d)", "torch.mul(s,2)", "torch.add(s,s)",
    "torch.add(torch.ones(2,3),s)",
])  # fmt: skip
def test_methods_are_recorded(method):
    found = []
    for lib in (torch, pt):
        given = names(lib)
        y = eval(method, given)
        (y.to_dense() if y.is_sparse else y).sum().backward()
        found.append([given[n].grad is not None and given[n].grad.tolist() for n in "vd"])
    assert found[0] == found[1]


@pytest.mark.parametrize("call", [
    "torch.sum(s)", "torch.neg(s)", "torch.clone(s)",
])  # fmt: skip
def test_functions_lose_no_history(call):
    """PyTorch records these too; here they are refused, in words that name what is recorded."""
    given = names(torch)
    with pytest.raises(NotImplementedError, match="own method of that name"):
        eval(call, given)
    assert eval(call, {**given, "s": given["s"].detach()}) is not None


def test_gradients():
    found = []
    for lib in (torch, pt):
        n = names(lib)
        lib.sparse.mm(n["s"], n["d"]).pow(2).sum().backward()
        found.append([n["v"].grad.tolist(), n["d"].grad.tolist()])
        n = names(lib)
        (n["s"].to_dense() ** 2).sum().backward()
        found[-1].append(n["v"].grad.tolist())
        for product in (lib.mm, lib.matmul, lib.spmm, lambda s, d: s @ d):
            n = names(lib)
            product(n["s"], n["d"]).pow(2).sum().backward()
            found[-1] += [n["v"].grad.tolist(), n["d"].grad.tolist()]
        n = names(lib)
        lib.sparse.mm(n["s"], n["s"].t()).to_dense().pow(2).sum().backward()
        found[-1].append(n["v"].grad.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("log", [False, True])
def test_softmax_of_what_is_held(log):
    found = []
    for lib in (torch, pt):
        s = names(lib)["s"].detach()
        name = "log_softmax" if log else "softmax"
        found.append(getattr(lib.sparse, name)(s, 1).to_dense().flatten().tolist())
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize(
    "options",
    [{"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.1}, {"momentum": 0.9, "nesterov": True}],
    ids=["plain", "damped", "nesterov"],
)
def test_momentum_of_sparse_gradients(options):
    found = []
    for lib in (torch, pt):
        table = lib.nn.Embedding(5, 2, sparse=True)
        with lib.no_grad():
            table.weight.copy_(lib.arange(10.0).reshape(5, 2) / 10)
        optimizer = lib.optim.SGD(table.parameters(), lr=0.1, **options)
        for rows in ([0, 1, 1], [1, 4], [0, 2]):
            optimizer.zero_grad()
            (table(lib.tensor(rows)) ** 2).sum().backward()
            optimizer.step()
        found.append(table.weight.detach().flatten().tolist())
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.parametrize("name", ["SGD", "SparseAdam", "Adagrad"])
@pytest.mark.parametrize("maximize", [False, True])
def test_optimizers_and_embeddings(name, maximize):
    found = []
    for lib in (torch, pt):
        table = lib.nn.Embedding(5, 2, sparse=True, padding_idx=1)
        with lib.no_grad():
            table.weight.copy_(lib.arange(10.0).reshape(5, 2) / 10)
        optimizer = getattr(lib.optim, name)(list(table.parameters()), lr=0.1, maximize=maximize)
        for _ in range(3):
            optimizer.zero_grad()
            for rows in ([0, 1, 3, 3], [0, 2]):
                (table(lib.tensor(rows)) ** 2).sum().backward()
            assert table.weight.grad.is_sparse
            grad = table.weight.grad.to_dense().flatten().tolist()
            optimizer.step()
        found.append([table.weight.detach().flatten().tolist(), grad])
    for ours, theirs in zip(*found, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("name", ["smm", "hspmm", "sspaddmm"])
def test_a_refused_product_is_named(name):
    s, d = torch.eye(2, 3).to_sparse(), torch.ones(3, 2)
    more = (torch.eye(2).to_sparse(),) if name == "sspaddmm" else ()
    for a, b in ((d.t(), d), (s, s), (s, d.t()), (s, d[0]), (s[0], d)):
        with pytest.raises(RuntimeError, match=f"^{name}: "):
            getattr(torch, name)(*more, a, b)


def test_refusals():
    s = names(torch)["s"]
    rows = torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3))  # each a dense dimension
    with pytest.raises(NotImplementedError, match="only matrices, and"):
        rows.to_sparse_csr()
    for call in (
        lambda: s.reshape(6),
        lambda: s[0:1],
        lambda: torch.exp(s),
        lambda: s + 1,
        lambda: torch.cat([s, s.to_dense()]),
        lambda: s / s,
        lambda: s.detach()[0.5],
        lambda: torch.linalg.svd(s.detach()),
        lambda: rows.transpose(0, 1),
        lambda: rows.unsqueeze(2),
        lambda: rows.select(1, 0),
        lambda: torch.cat([rows, rows], 1),
        lambda: torch.sparse.softmax(rows, 1),
    ):
        with pytest.raises(NotImplementedError, match="to_dense"):
            call()
    table = torch.nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([0])).sum().backward()
    with pytest.raises(RuntimeError, match="Adam does not support sparse gradients"):
        torch.optim.Adam(table.parameters()).step()
    for indices, values, size, said in (
        ([[0, 1]], [1.0], (2,), "same nnz"),
        ([[0, 5]], [1.0, 2.0], (2,), "inconsistent"),
        ([[-1]], [1.0], (2,), "negative index"),
        ([[0]], [1.0], (2, 2), "number of dimensions"),
    ):
        with pytest.raises(RuntimeError, match=said):
            torch.sparse_coo_tensor(torch.tensor(indices), torch.tensor(values), size)


def test_pickles_and_zeroed_gradients():
    s = names(torch)["s"].detach()
    t = pickle.loads(pickle.dumps(s))
    assert t.is_sparse
    assert t.to_dense().tolist() == s.to_dense().tolist()
    table = torch.nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([0])).sum().backward()
    table.zero_grad(set_to_none=False)
    assert table.weight.grad._nnz() == 0


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding_idx", [None, 1])
def test_bags_of_embeddings(mode, padding_idx):
    def gradient(lib):
        weight = lib.arange(12.0).reshape(4, 3).requires_grad_()
        factors = lib.tensor([1.0, 2, 3, 4, 5]) if mode == "sum" else None
        made = lib.nn.functional.embedding_bag(
            lib.tensor([0, 1, 1, 3, 0]), weight, lib.tensor([0, 2]), mode=mode, sparse=True,
            padding_idx=padding_idx, per_sample_weights=factors,
        )  # fmt: skip
        (made * lib.arange(6.0).reshape(2, 3)).sum().backward()
        assert weight.grad.is_sparse
        return weight.grad._nnz(), weight.grad.to_dense().tolist()

    found, wanted = gradient(torch), gradient(pt)
    assert found[0] == wanted[0]
    assert found[1] == [pytest.approx(row) for row in wanted[1]]


@pytest.mark.parametrize("coalesced", [False, True])
def test_files_pass_between_both(coalesced):
    def saved(lib):
        s = lib.sparse_coo_tensor(
            lib.tensor([[1, 0, 1], [0, 2, 0]]), lib.tensor([3.0, 4.0, 5.0]), (2, 3)
        )
        file = io.BytesIO()
        lib.save({"s": s.coalesce() if coalesced else s, "d": lib.ones(2)}, file)
        return file.getvalue()

    found = torch.load(io.BytesIO(saved(pt)))["s"]
    assert (found._nnz(), found.is_coalesced()) == (2 if coalesced else 3, coalesced)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pt.load(io.BytesIO(saved(torch)))["s"]
    assert (theirs._nnz(), theirs.is_coalesced()) == (found._nnz(), coalesced)
    assert found.to_dense().tolist() == theirs.to_dense().tolist() == [[0, 0, 4], [8, 0, 0]]


def test_a_file_with_positions_beyond_the_size_is_refused():
    s = torch.sparse_coo_tensor(torch.tensor([[0, 7]]), torch.ones(2), (8,))
    s._positions = torch.tensor([[0, 9]])
    file = io.BytesIO()
    torch.save(s, file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        torch.load(file)


def assigned(lib, into, value):
    make = {
        "coo": lambda: lib.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)),
        "trained": lambda: lib.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)).requires_grad_(),
        "other": lambda: lib.sparse_coo_tensor([[2]], [5.0], (4,), dtype=lib.float64),
        "integers": lambda: lib.sparse_coo_tensor([[2]], [5], (3,)),
        "rows": lambda: lib.eye(3).to_sparse_csr(),
        "dense": lambda: lib.ones(3),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's
        target, given = make[into](), make[value]()
    before = repr(target)
    try:
        target.data = given
    except RuntimeError as error:
        assert repr(target) == before
        return "incompatible tensor type" in str(error)
    if given is not target and given.layout is lib.sparse_coo:
        given._values().fill_(7)  # it is the same memory
    held = [target._indices().tolist(), target._values().tolist(), list(target.shape)]
    return held, str(target.dtype), target.requires_grad, target.is_leaf


@pytest.mark.parametrize("into", ["coo", "trained", "rows"])
@pytest.mark.parametrize("value", ["other", "integers", "dense", "coo"])
def test_data_is_assigned_whole_or_refused(into, value):
    assert assigned(torch, into, value) == assigned(pt, into, value)


def test_data_shares_what_it_holds_without_history():
    t = torch.sparse_coo_tensor([[0]], [1.0], (2,)).requires_grad_()
    t.data._values().fill_(3)
    assert t.to_dense().tolist() == [3, 0]
    assert not t.data.requires_grad
    rows = torch.ones(2, 2).to_sparse_csr()
    rows.data = torch.eye(2).to_sparse_csr()  # PyTorch keeps the old values and says nothing
    assert rows.to_dense().tolist() == [[1, 0], [0, 1]]
