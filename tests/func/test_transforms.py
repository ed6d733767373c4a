"""`torch.func` against PyTorch: gradients, Jacobians, modules, alone and under `vmap`."""

import importlib

import pytest
from outcomes import outcome

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def names(lib):
    f = importlib.import_module(f"{lib.__name__}.func")
    functional = lib.nn.functional
    m = lib.arange(1.0, 7.0).reshape(2, 3)
    lin = lib.nn.Linear(3, 2)
    with lib.no_grad():
        lin.weight.copy_(m / 10)
        lin.bias.zero_()

    def loss(p, a, t):
        return functional.cross_entropy(f.functional_call(lin, p, (a[None],)), t[None])

    class Lent(lib.nn.Module):  # shows an attribute where it is lent one
        def forward(self, a):
            return a * getattr(self, "lent", 1)

    return {
        **{name: getattr(f, name) for name in ("vmap", "grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian")},
        "torch": lib, "f": f, "F": functional, "x": lib.arange(1.0, 4.0), "m": m, "lin": lin, "loss": loss, "Lent": Lent,
        "w": lib.ones(3, requires_grad=True), "sq": lambda a: (a**3).sum(),
        "params": {k: v.detach() for k, v in lin.named_parameters()},
    }  # fmt: skip


PROGRAMS = [
    "grad(sq)(x)",
    "grad(grad(lambda a: (a**3)))(torch.tensor(2.))",
    "grad(lambda a,b:(a*b).sum(),argnums=(0,1))(x,x+1)",
    "f.grad_and_value(sq)(x)",
    "grad(lambda a: ((a**2).sum(), a),has_aux=True)(x)",
    "vjp(sq,x)[1](torch.tensor(2.))",
    "vjp(lambda a: a*2,x)[0]",
    "jvp(lambda a: a**2,(x,),(torch.ones(3),))",
    "jacrev(lambda a:a**2)(x)",
    "jacfwd(lambda a:m@a)(x)",
    "hessian(sq)(x)",
    "vmap(grad(sq))(m)",
    "vmap(grad(lambda p,a:(p*a).sum()),in_dims=(None,0))(x,m)",
    "vmap(jacrev(lambda a:a**2))(m)",
    "vmap(hessian(sq))(m)",
    "vmap(lambda v: vjp(lambda a:m@a,x)[1](v)[0])(torch.eye(2))",
    "vmap(vjp(lambda a:m@a,x)[1])(torch.eye(2))",
    "vmap(grad(loss),in_dims=(None,0,0))(params,m,torch.tensor([0,1]))",
    "grad(lambda a:(w*a).sum())(x).requires_grad",
    "grad(sq)(x).requires_grad",
    "grad(lambda a: vmap(lambda r:(r*2).sum())(a).sum())(m)",
    "grad(lambda a: a)(x)",
    "grad(lambda a: 1)(x)",
    "grad(sq,argnums=3)(x)",
    "jvp(lambda a: (a.sum(), a*2),(x,),(x,))",
    "jacrev(lambda a,b:(a*b,a.sum()),argnums=(0,1))(x,x)",
    "f.linearize(lambda a:a**2,x)[1](torch.ones(3))",
    "[ {k:v.shape for k,v in d.items()} for d in f.stack_module_state([lin,lin])]",
    "vmap(lambda p,b: f.functional_call(lin,(p,b),(x,)))(*f.stack_module_state([lin,lin]))",
    "vmap(lambda p,b,a: f.functional_call(lin,(p,b),(a,)),in_dims=(0,0,None))(*f.stack_module_state([lin,lin]),m)",
    "grad(lambda d:(d['a']*d['b']).sum())({'a':x,'b':x})",
    "vmap(lambda a: jvp(torch.sin,(a,),(torch.ones_like(a),))[1])(m)",
    "jacrev(jacrev(sq))(x)",
    "(lambda a:(f.functionalize(lambda b:b.add_(1)*2)(a),a))(x.clone())",
    "grad(f.functionalize(lambda b:(b*2).mul_(b).sum(),remove='mutations_and_views'))(x)",
    "f.functionalize(sq,remove='views')(x)",
    "f.functional_call(lin,{'none':x},(x,))",
    "f.functional_call(lin,{'none':x},(x,),strict=True)",
    "f.functional_call(lin,{'none.of':x},(x,))",
    "f.functional_call(lin,{'in_features':x},(x,))",
    "f.functional_call(lin,{'weight':2},(x,))",
    "f.functional_call(lin,{'':x},(x,))",
    "f.functional_call(Lent(),{'lent':x},(x,))",
    "grad(lambda a: grad(lambda b: (a*b*b).sum())(x).sum())(x)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_pytorch(program):
    assert outcome(program, names(torch)) == outcome(program, names(pt))


def test_what_there_is_not():
    from mindtorch_core import func

    with pytest.raises(ValueError, match=r"\['weight'\] appeared in multiple dictionaries"):
        func.functional_call(torch.nn.Linear(1, 1), ({"weight": 1}, {"weight": 2}), ())
    with pytest.raises(RuntimeError, match="same class"):
        func.stack_module_state([torch.nn.Linear(1, 1), torch.nn.Identity()])
