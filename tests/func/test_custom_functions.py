"""`torch.autograd.Function` under transforms against PyTorch: a table of Functions, and one of programs."""

import importlib
import warnings

import pytest
from outcomes import outcome

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def functions(lib):
    """Functions of one tensor or two, by name."""
    base, once = lib.autograd.Function, lib.autograd.function.once_differentiable

    class Exp(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Round(Exp):  # its backward is not the derivative of what forward does
        @staticmethod
        def forward(x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g * 3

    class Scaled(Exp):  # an argument that is no tensor, input saved, a keyword
        @staticmethod
        def forward(x, by=2, plus=None):
            return x * x * by + (0 if plus is None else plus)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.by = inputs[1]
            ctx.save_for_backward(inputs[0], None)

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.by * g * ctx.saved_tensors[0], None, None

    class Mul(Exp):  # several inputs; says which gradients were asked for
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            need = ctx.needs_input_grad
            return g * b + need[1] if need[0] else None, g * a if need[1] else None

    class Several(Exp):  # several outputs, one of them without gradient
        @staticmethod
        def forward(x):
            return x.sin(), x.cos(), x.argsort()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(output[1])

        @staticmethod
        def backward(ctx, g, other, index):
            return g * ctx.saved_tensors[0] + other

    class Maybe(Several):  # gradients that may be None
        @staticmethod
        def forward(x):
            return x.sin(), x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g, other):
            return (0 if g is None else g) + (5 if other is None else other * 2)

    class Add(Exp):  # changes its input
        @staticmethod
        def forward(x):
            return x.add_(1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g * 7

    class Same(Exp):  # hands its input on
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.kept = inputs[0] * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.kept

    class Once(Exp):
        @staticmethod
        @once
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Wide(Exp):  # gradients of more dimensions, which are summed
        @staticmethod
        def backward(ctx, g):
            return lib.stack([g, g * 2])

    class Bad(Exp):
        @staticmethod
        def backward(ctx, g):
            return g, g

    class Square(Exp):  # its own rule
        generate_vmap_rule = False

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

        @staticmethod
        def vmap(info, in_dims, x):
            return Square.apply(x.movedim(in_dims[0], -1)) + info.batch_size, -1

    class Straight(Square):  # whose rule has another gradient than its backward
        @staticmethod
        def backward(ctx, g):
            return g * 5

        @staticmethod
        def vmap(info, in_dims, x):
            return x.floor() + (info.randomness == "same"), in_dims[0]

    class Two(Square):
        @staticmethod
        def forward(x, y, k):
            return x * y, y.sum() * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs[:2])

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * y, g * x + h, None

        @staticmethod
        def vmap(info, in_dims, x, y, k):
            assert len(in_dims) == 3
            assert in_dims[1:] == (None, None)
            return (x * y.unsqueeze(in_dims[0]), y.sum() * k), (in_dims[0], None)

    class Both(Square):
        generate_vmap_rule = True

    class Neither(Exp):
        generate_vmap_rule = False

    class One(Square):
        @staticmethod
        def vmap(info, in_dims, x):
            return x

    class Dims(Square):
        @staticmethod
        def vmap(info, in_dims, x):
            return x, (0, 0)

    class Old(base):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g

    class Pushed(Mul):  # its jvp is another derivative than its backward
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(output, *inputs)

        @staticmethod
        def jvp(ctx, s, t):
            out, a, b = ctx.saved_tensors
            return 10 * s * b + 100 * t * a + out

    class Ruled(Pushed):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info, in_dims, a, b):
            a, b = (
                t if d is None else t.movedim(d, 0) for t, d in zip((a, b), in_dims, strict=True)
            )
            return Ruled.apply(a, b), 0

    class Calling(Pushed):  # calls one without a jvp
        @staticmethod
        def forward(a, b):
            return Exp.apply(a) * b

    class Pair(Pushed):  # an output that does not move
        @staticmethod
        def forward(a, b):
            return a * b, b.argsort()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, s, t):
            a, b = ctx.saved_tensors
            return 10 * s * b + 100 * t * a, None

    class Outer(Square):  # whose backward calls another
        @staticmethod
        def backward(ctx, g):
            return Old.apply(g)

    return {k: v for k, v in locals().items() if isinstance(v, type) and issubclass(v, base)}


def names(lib):
    f = importlib.import_module(f"{lib.__name__}.func")
    x = lib.arange(6.0).reshape(2, 3) / 4
    return {
        **{name: getattr(f, name) for name in ("vmap", "grad", "vjp", "jvp", "jacrev", "jacfwd", "hessian")},
        **functions(lib), "torch": lib, "x": x, "v": lib.arange(1.0, 4.0), "m": lib.stack([x, x + 1]),
        "leaf": leaf, "nn": lib.nn,
    }  # fmt: skip


def leaf(x, call):
    """The gradient by `backward` of what a function of a leaf returns."""
    p = x.clone().requires_grad_()
    call(p).sum().backward()
    return p.grad


ONE = ["Exp", "Round", "Same", "Square", "Straight", "Wide", "Once", "Both", "Neither", "One", "Dims",
       "Old"]  # fmt: skip
TRANSFORMS = [
    "vmap({f}.apply)(x)",
    "vmap({f}.apply,in_dims=1,out_dims=1)(x)",
    "vmap(vmap({f}.apply))(m)",
    "vmap(vmap({f}.apply,in_dims=1,out_dims=1),in_dims=2)(m)",
    "vmap(grad(lambda a:{f}.apply(a).sum()))(x)",
    "vmap(grad(lambda a:({f}.apply(a)*a+2*a).sum()),in_dims=1)(x)",
    "grad(lambda a:vmap({f}.apply)(a).sum())(x)",
    "grad(lambda a:(vmap({f}.apply,in_dims=1)(a)*a.T).sum())(x)",
    "grad(lambda a:vmap(vmap({f}.apply))(a).sum())(m)",
    "vmap(grad(lambda a:vmap({f}.apply)(a).sum()))(m)",
    "vmap(vmap(grad(lambda a:{f}.apply(a).sum()),in_dims=1))(m)",
    "vmap(jacrev({f}.apply))(x)",
    "jacrev(vmap({f}.apply))(x)",
    "vmap(lambda a:vjp({f}.apply,a)[1](v)[0])(x)",
    "vmap(vjp({f}.apply,v)[1])(x)",
    "vmap(vjp(vmap({f}.apply),x)[1])(m)",
    "leaf(x,vmap({f}.apply))",
    "leaf(x,vmap(grad(lambda a:({f}.apply(a)*a).sum())))",
    "leaf(v,lambda p:vmap(lambda a:{f}.apply(p)*a)(x))",
]
# PyTorch refuses these even where no sample has a part in them. It walks what a transform gave
# without regard for once_differentiable, and by what the own rule did instead of by the Function's backward.
OTHERWISE = {
    **dict.fromkeys(("Neither", "Both"), (TRANSFORMS[14], TRANSFORMS[18])),
    **dict.fromkeys(("Once", "Straight"), (TRANSFORMS[17],)),
}


@pytest.mark.parametrize(
    ("name", "program"), [(n, p) for n in ONE for p in TRANSFORMS if p not in OTHERWISE.get(n, ())]
)
def test_as_pytorch(name, program):
    code = program.format(f=name)
    assert outcome(code, names(torch)) == outcome(code, names(pt))


PROGRAMS = [
    "vmap(jacrev(jacrev(lambda a:Exp.apply(a).sum())))(x)",
    "vmap(grad(lambda a:grad(lambda b:Exp.apply(b).sum())(a).sum()))(x)",
    "grad(lambda a:vmap(grad(lambda b:Exp.apply(b).sum()))(a).sum())(x)",
    "grad(lambda a:vmap(grad(lambda b:Square.apply(b).sum()))(a).sum())(x)",
    "vmap(jacrev(jacrev(lambda a:Square.apply(a).sum())))(x)",
    "vmap(grad(lambda a:grad(lambda b:Once.apply(b).sum())(a).sum()))(x)",
    "vmap(lambda a:Scaled.apply(a,3))(x)",
    "vmap(grad(lambda a:Scaled.apply(a,3).sum()))(x)",
    "vmap(grad(lambda a:Scaled.apply(a).sum()))(x)",
    "vmap(grad(lambda a:Scaled.apply(a,by=4).sum()))(x)",
    "vmap(grad(lambda a:Scaled.apply(a,2,plus=a).sum()))(x)",
    "vmap(grad(lambda a:Scaled.apply(Exp.apply(a)).sum()))(x)",
    "vmap(Mul.apply,in_dims=(0,None))(x,v)",
    "vmap(grad(lambda a,b:Mul.apply(a,b).sum(),argnums=(0,1)),in_dims=(0,None))(x,v)",
    "vmap(grad(lambda a,b:Mul.apply(a,b).sum(),argnums=1),in_dims=(1,0))(x,v)",
    "vmap(grad(lambda a,b:Mul.apply(a,b).sum()),in_dims=(None,0))(v,x)",
    "grad(lambda b:vmap(Mul.apply,in_dims=(0,None))(x,b).sum())(v)",
    "grad(lambda b:vmap(Mul.apply,in_dims=(1,0))(x,b).sum())(v)",
    "grad(lambda b:vmap(lambda a:Mul.apply(a,a*b).sum())(x).sum())(v)",
    "grad(lambda a:vmap(lambda b:Mul.apply(b,b).sum())(a).sum())(x)",
    "vmap(vmap(grad(lambda a,b:Mul.apply(a,b).sum(),argnums=(0,1)),in_dims=(None,0)),in_dims=(0,None))(x,x+1)",
    "vmap(vmap(Mul.apply,in_dims=(0,None)),in_dims=(None,0))(x,x+1)",
    "leaf(v,lambda p:vmap(vmap(Mul.apply,in_dims=(0,None)),in_dims=(None,0))(x,p*x))",
    "vmap(grad(lambda a:Mul.apply(a,torch.ones(2,3)).sum()))(x)",
    "vmap(grad(lambda a:Mul.apply(a,a[:1]).sum()))(x)",
    "grad(lambda b:vmap(lambda a:Mul.apply(a,b.view(1,3)))(x).sum())(v)",
    "vmap(Several.apply)(x)",
    "vmap(grad(lambda a:sum(o.sum() for o in Several.apply(a))))(x)",
    "vmap(grad(lambda a:Several.apply(a)[1].sum()))(x)",
    "grad(lambda a:vmap(Several.apply,in_dims=1)(a)[0].sum())(x)",
    "vmap(grad(lambda a:Maybe.apply(a)[0].sum()))(x)",
    "vmap(grad(lambda a:Maybe.apply(a)[1].sum()))(x)",
    "grad(lambda a:vmap(Maybe.apply)(a)[1].sum())(x)",
    "vmap(lambda a:Two.apply(a,v,2))(x)",
    "vmap(lambda a:Two.apply(a,v,2)[0],in_dims=1)(m[:,:,:1])",
    "vmap(grad(lambda a:Two.apply(a,v,2)[0].sum()))(x)",
    "grad(lambda b:sum(o.sum() for o in vmap(lambda a:Two.apply(a,b,2))(x)))(v)",
    "vmap(Straight.apply,randomness='same')(x)",
    "vmap(lambda a:Exp.apply(a),chunk_size=1)(x)",
    "vmap(lambda a:Exp.apply(v))(x)",
    "vmap(lambda a:Old.apply(v))(x)",
    *(f"{f}(lambda a:Old.apply(a).sum())(x)" for f in ("grad", "jacrev", "hessian")),
    "jvp(Old.apply,(x,),(x,))",
    "grad(lambda a:Old.apply(v).sum())(x)",
    "vjp(Old.apply,x)",
    "vjp(Outer.apply,x)[1](x)",
    "grad(lambda a:Outer.apply(a).sum())(x)",
    "(vmap(grad(lambda a:Exp.apply(a).sum()))(x),leaf(x,Old.apply))",
    "vmap(lambda a:jvp(lambda b:b*2,(Exp.apply(a),),(a,)))(x)",
    "vmap(lambda a:nn.Parameter(a,requires_grad=False)*2)(x)",
    "vmap(lambda a:nn.Parameter(a)*2)(x)",
    "vmap(grad(lambda a:(nn.Parameter(a,requires_grad=False)*a).sum()))(x)",
    "vmap(lambda a:a*isinstance(nn.Parameter(a),nn.Parameter))(x)",
    "vmap(lambda a:a.requires_grad_(False))(x)",
    "vmap(lambda a:nn.Buffer(a))(x)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_as_pytorch(program):
    assert outcome(program, names(torch)) == outcome(program, names(pt))


PUSHED = [
    "jvp({f}.apply,(v,v+1),(v,v*2))",
    "vmap(lambda a:jvp({f}.apply,(a,v),(v,a)))(x)",
    "vmap(lambda t:jvp({f}.apply,(v,v+1),(t,v)))(x)",
    "vmap(lambda a:jvp(lambda b:{f}.apply(b,v),(a,),(v,)),in_dims=1,out_dims=1)(x.T)",
    "vmap(vmap(lambda a:jvp({f}.apply,(a,v),(a,v))),in_dims=1)(m)",
    "vmap(lambda a:vmap(lambda b:jvp({f}.apply,(b,a),(v,a)))(x))(x)",
    "jvp(vmap({f}.apply),(x,x+1),(x,x*2))",
    "jvp(vmap({f}.apply,in_dims=(0,None),out_dims=1),(x,v),(x+1,v))",
    "jvp(lambda a:vmap(lambda b:{f}.apply(b,v)*b)(a),(x,),(x+1,))",
    "jvp(vmap(vmap({f}.apply),in_dims=1),(m,m+1),(m,m*2))",
    "vmap(jvp,in_dims=(None,0,0))({f}.apply,(x,x),(x,x))",
]

# PyTorch loses the dimension of samples there, of an output that does not move, or of one input in two levels.
PUSHED_OTHERWISE = {"Pair": (PUSHED[3], *PUSHED[7:9]), "Ruled": (PUSHED[5],)}


@pytest.mark.parametrize(
    ("name", "program"),
    [
        (n, p)
        for n in ("Pushed", "Ruled", "Calling", "Pair")
        for p in PUSHED
        if p not in PUSHED_OTHERWISE.get(n, ())
    ],
)
def test_jvp_as_pytorch(name, program):
    code = program.format(f=name)
    assert outcome(code, names(torch)) == outcome(code, names(pt))


def test_a_tangent_of_samples_for_an_output_of_all():
    own = names(torch)

    class Of(own["Pushed"]):
        @staticmethod
        def forward(a, b):
            return b * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def jvp(ctx, s, t):
            return ctx.saved_tensors[0]

    with pytest.raises(RuntimeError, match="the same for all samples"):
        own["jvp"](
            lambda b: own["vmap"](lambda a: Of.apply(a, b))(own["x"]), (own["v"],), (own["v"],)
        )


SAMPLES = [  # what PyTorch does not do inside: marks of a context under a rule that it made
    ("vmap(lambda a:Add.apply(a.clone()))(x)", "Add.apply(x.clone())"),
    ("vmap(grad(lambda a:(Add.apply(a*1)*2).sum()))(x)", "torch.full((2,3),14.)"),
    ("grad(lambda a:vmap(lambda b:Add.apply(b*1)*2)(a).sum())(x)", "torch.full((2,3),14.)"),
    ("vmap(grad(lambda a:(lambda b:(Add.apply(b),b.sum())[1])(a*2)))(x)", "torch.full((2,3),14.)"),
    ("leaf(x,lambda p:vmap(lambda b:Add.apply(b*1)*2)(p))", "torch.full((2,3),14.)"),
    ("grad(lambda a:sum(o.sum() for o in vmap(Several.apply)(a)))(x)", "x.cos()"),
    (
        "[o.requires_grad for o in vmap(Several.apply)(x.clone().requires_grad_())]",
        "[True,False,False]",
    ),
    ("vmap(grad(lambda a:Bad.apply(a).sum()))(x)", "leaf(x,Bad.apply)"),
    ("grad(lambda a:vmap(Bad.apply)(a).sum())(x)", "leaf(x,Bad.apply)"),
    ("grad(lambda a:vmap(lambda b:Neither.apply(v)*b)(a).sum())(x)", "v.exp().expand(2,3)"),
]


@pytest.mark.parametrize(("program", "same"), SAMPLES)
def test_as_without_samples(program, same):
    assert outcome(program, names(torch)) == outcome(same, names(torch))


def test_marks_where_pytorch_has_them():
    """The gradients that `SAMPLES` expects are PyTorch's without `vmap`."""
    for program in (
        "grad(lambda a:(Add.apply(a*1)*2).sum())(x)",
        "grad(lambda a:sum(o.sum() for o in Several.apply(a)))(x)",
        "[o.requires_grad for o in Several.apply(x.clone().requires_grad_())]",
    ):
        assert outcome(program, names(torch)) == outcome(program, names(pt))


@pytest.mark.parametrize("name", ["Both", "Neither", "One", "Dims", "Old"])
def test_texts_of_errors(name):
    texts = []
    for lib in (torch, pt):
        own = names(lib)
        with pytest.raises(RuntimeError) as caught:
            own["vmap"](own[name].apply)(own["x"])
        texts.append(str(caught.value)[:60])
    assert texts[0] == texts[1]


def test_what_is_running_after_an_error():
    own = names(torch)
    with pytest.raises(RuntimeError):
        own["vmap"](own["One"].apply)(own["x"])
    p = own["x"].clone().requires_grad_()
    with pytest.raises(RuntimeError):
        own["vmap"](own["Bad"].apply)(p).sum().backward()
    assert torch.rand(2).shape == (2,)
    assert own["vmap"](own["Exp"].apply)(torch.zeros(2)).tolist() == [1, 1]


def test_no_op_of_its_own_is_slow():
    own = names(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own["vmap"](own["grad"](lambda a: own["Wide"].apply(a).sum()))(own["x"])
