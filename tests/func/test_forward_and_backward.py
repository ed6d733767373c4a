"""Derivatives along tangents inside of other transforms, and the other way round: PyTorch's numbers."""

import pytest
from outcomes import outcome
from test_transforms import names

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# T has more results than arguments, so that `jacfwd` goes along the arguments.
OF_TANGENTS = [
    "vmap(lambda a: jvp(torch.sin,(x,),(a,)))(m)", "vmap(lambda a: jvp(torch.sin,(a,),(x,)))(m)",
    "vmap(lambda a: jvp(lambda b:x,(a,),(a,)))(m)", "vmap(vmap(lambda a: jvp(torch.sin,(a,),(a,))[1]))(m)",
    "vmap(lambda a: vmap(lambda t: jvp(T,(a,),(t,))[1])(torch.eye(3)))(m)",
    "grad(lambda a: jvp(torch.sin,(a,),(x,))[1].sum())(x)", "grad(lambda a: jvp(torch.sin,(x,),(a,))[1].sum())(x)",
    "grad(lambda a: jvp(lambda b:(a*b).sin(),(x,),(x,))[1].sum())(x)",
    "grad(lambda a: grad(lambda b: jvp(lambda c:(a*b*c).sin(),(x,),(x,))[1].sum())(a).sum())(x)",
    "vmap(grad(lambda a: jvp(torch.sin,(a,),(x,))[1].sum()))(m)",
    "grad(lambda a: vmap(lambda r: jvp(torch.sin,(r,),(x,))[1])(a).sum())(m)",
    "vmap(lambda a: vjp(lambda b: jvp(torch.sin,(b,),(x,))[1],a)[1](x)[0])(m)",
    "jvp(lambda a: jvp(lambda b:(a*b).sin(),(x,),(x,))[1],(x,),(x,))",
    "jvp(lambda c:jvp(lambda a: jvp(lambda b:T(a*b*c),(x,),(a,))[1],(x,),(x,))[1],(x,),(x,))",
    "grad(lambda a: jvp(lambda b: jvp(lambda c:(a*b*c).sin(),(x,),(x,))[1],(x,),(x,))[1].sum())(x)",
    "jvp(lambda a:(w*a).sin(),(x,),(x,))[1].requires_grad", "vmap(f.linearize(lambda a:(a**2).sin(),x)[1])(torch.eye(3))",
    "jvp(lambda a:(a*2,a),(x,),(x,),has_aux=True)", "jvp(lambda a:x,(x,),(x,),strict=True)",
    "jvp(lambda a:a*2,(x.long(),),(x.long(),))", "jvp(torch.sin,(),())", "jvp(torch.sin,(1.,),(1.,))",
    "jvp(torch.sin,(x,),x)", "jvp(torch.sin,x,(x,))", "jvp(torch.sin,(x,),(m,))",
]  # fmt: skip
OF_GRADIENTS = [
    "jvp(grad(sq),(x,),(x,))", "jvp(grad(lambda a:T(a).sum()),(x,),(x,))", "jvp(f.grad_and_value(sq),(x,),(x,))",
    "jvp(grad(grad(lambda a:a**5)),(x[1],),(x[1],))", "jvp(lambda a:vjp(T,a)[1](T(a))[0],(x,),(x,))",
    "jvp(jacrev(T),(x,),(x,))", "jvp(lambda a: jacrev(lambda b:(a*b).sin())(x),(x,),(x,))",
    "jvp(lambda a:hessian(lambda b:T(b).sum())(a),(x,),(x,))", "jvp(vmap(grad(sq)),(m,),(m,))",
    "vmap(lambda v: jvp(grad(sq),(x,),(v,))[1])(torch.eye(3))", "jvp(lambda a:grad(lambda b:b.sum()*3)(a)*a,(x,),(x,))",
    "jvp(lambda a:grad(lambda b:(T(b).sum(),b*a),has_aux=True)(a),(x,),(x,))",
    "jvp(lambda a:grad(lambda b:b.clone().mul_(b).mul_(a).sum())(a),(x,),(x,))",
    "grad(lambda a:jvp(grad(lambda b:T(a*b).sum()),(x,),(x,))[1].sum())(x)",
    "vmap(lambda a:jvp(vmap(grad(lambda r:r**3)),(a,),(a,)))(m)", "jvp(jacfwd(T),(x,),(x,))",
]  # fmt: skip
FORWARD_JACOBIANS = [
    "jacfwd(T)(x)", "jacfwd(jacfwd(T))(x)", "jacfwd(jacrev(T))(x)", "jacrev(jacfwd(T))(x)", "hessian(T)(x)",
    "jacfwd(jacfwd(jacfwd(T)))(x)", "vmap(jacfwd(T))(m)", "vmap(jacfwd(jacfwd(T)))(m)", "jacfwd(vmap(T))(m)",
    "grad(lambda a:jacfwd(T)(a).sin().sum())(x)", "vjp(jacfwd(T),x)[1](jacfwd(T)(x))", "vmap(hessian(T))(m)",
    "vmap(lambda a:jvp(jacfwd(T),(a,),(x,)))(m)", "jacfwd(lambda a:jvp(T,(a,),(x,)))(x)",
    "jacfwd(lambda a:jvp(T,(x,),(a,))[1])(x)", "jacfwd(lambda a:jacfwd(lambda b:T(a*b))(x))(x)",
    "jacfwd(lambda a:(T(a),T(a*2).sum()))(x)", "jacfwd(lambda a,b:T(a)*T(b),argnums=(0,1))(x,x)",
    "jacfwd(lambda a,b:T(a)*T(b),argnums=1)(x,x)", "jacfwd(lambda a:(T(a),a*3),has_aux=True)(x)",
    "jacfwd(lambda a:{'p':T(a),'q':[a]})(x)", "jacfwd(T)(x[:1])", "jacfwd(lambda a:T(a[None]))(x[0])",
    "jacfwd(lambda a:T(w*a))(x).requires_grad", "torch.autograd.grad(jacfwd(lambda a:T(w*a))(x).sum(),w)",
    "jacfwd(lambda a:torch.zeros(6))(x)", "jacfwd(lambda a:T(a).double())(x)", "jacfwd(torch.sin)(torch.zeros(0))",
    "jacfwd(lambda a:T(a)if a.sum()>0 else a)(x)", "jacfwd(lambda a:T(a).to(torch.complex64))(x)",
    "jacfwd(lambda a:a)(x.long())", "jacfwd(lambda a:a*a)(torch.tensor([1+2j,3.]))", "jacfwd(lambda a:1)(x)",
    "jacrev(lambda a:a*a)(torch.tensor([1+2j,3.]))", "jacrev(lambda a:a.to(torch.complex64))(x)",
    "jacfwd(lambda p: f.functional_call(lin,p,(torch.cat([m]*6),)).sin())(params)", "jacfwd(torch.sin,randomness='bad')(x)",
    "jacfwd(lambda a:T(a)*torch.rand(6),randomness='same')(x).shape", "vmap(jacfwd(T,randomness='different'))(m)",
    "jacfwd(lambda a:T(a)*torch.rand(6),randomness='different')(x).shape",
    "jacfwd(lambda a:(T(a)*torch.rand(6),a),randomness='different',has_aux=True)(x)[1]",
    "jacfwd(lambda a,b:(T(a)*b,),argnums=(0,1),randomness='different')(x,torch.tensor(2.))",
]  # fmt: skip


def known(lib):
    return names(lib) | {"T": lambda a: lib.cat([a, a * a.sum()]).sin()}


@pytest.mark.parametrize("program", OF_TANGENTS + OF_GRADIENTS)
def test_along_tangents(program):
    assert outcome(program, known(torch)) == outcome(program, known(pt))


@pytest.mark.parametrize("program", FORWARD_JACOBIANS)
def test_jacobians(program):
    assert outcome(program, known(torch)) == outcome(program, known(pt))


def test_many_results_of_few_arguments():
    """By results this would take a matrix of 10 to the 11th numbers."""
    times = torch.arange(300_000.0) / 1000
    found = torch.func.jacfwd(lambda p: torch.sin(times * p[0] + p[1]))(torch.tensor([0.5, 1.0]))
    slope = (times * 0.5 + 1).cos()
    assert torch.equal(found, torch.stack([slope * times, slope], 1))


def test_the_function_runs_once():
    calls = []

    def f(x):
        calls.append(x.shape)
        return torch.cat([x, x * x])

    torch.func.jacfwd(f)(torch.ones(3))
    assert calls == [(3,)]


def test_a_functions_own_jvp_is_asked():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * ctx.saved_tensors[0] ** 2 * 30  # ten times too much

    def along(x):
        return torch.func.jvp(Cube.apply, (x,), (torch.ones_like(x),))[1]

    x = torch.tensor([1.0, 2.0])
    assert torch.func.grad(lambda x: along(x).sum())(x).tolist() == [60.0, 120.0]
