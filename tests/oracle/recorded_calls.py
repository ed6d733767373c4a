"""Calls whose outcome in PyTorch is on record: wrong arguments, refused conversions, warnings.

What PyTorch says to each is not kept here; the tests ask the installed PyTorch.
"""

# In each call `torch` is the library, `a` is ``torch.ones(2, 3)``, `b` is ``torch.ones(4, 5)``, `R`
# makes tensors of ones that require grad, and the other names are made by `definitions`.
CALLS = {
    "shapes": {
        "add bcast": "a + b",
        "add bcast last": "torch.ones(2, 3) + torch.ones(2, 4)",
        "add_ output shape": "torch.ones(3).add_(torch.ones(2, 3))",
        "out= wrong shape": "torch.add(torch.ones(2), torch.ones(2), out=torch.ones(3))",
        "out= wrong dtype": "torch.add(torch.ones(2), torch.ones(2), out=torch.ones(2, dtype=torch.int32))",
        "out= wrong device": "torch.add(torch.ones(2), torch.ones(2), out=torch.ones(2, device='meta'))",
        "where bcast": "torch.where(torch.ones(2, dtype=torch.bool), torch.ones(3), torch.ones(4))",
        "expand": "torch.ones(2, 3).expand(4, 3)",
        "expand fewer dims": "torch.ones(2, 3).expand(3)",
        "broadcast_to": "torch.ones(2, 3).broadcast_to(2, 4)",
        "broadcast_shapes": "torch.broadcast_shapes((2, 3), (4,))",
        "broadcast_tensors": "torch.broadcast_tensors(a, b)",
        "mm shape": "torch.mm(a, b)",
        "mm 1d": "torch.mm(torch.ones(3), b)",
        "matmul 2d": "a @ b",
        "matmul 1d-1d": "torch.ones(3) @ torch.ones(4)",
        "matmul 2d-1d": "a @ torch.ones(4)",
        "matmul 1d-2d": "torch.ones(3) @ torch.ones(4, 5)",
        "matmul 0d": "torch.tensor(1.0) @ a",
        "matmul batch": "torch.ones(2, 3, 4) @ torch.ones(3, 4, 5)",
        "matmul batch inner": "torch.ones(2, 3, 4) @ torch.ones(2, 5, 6)",
        "bmm": "torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 6))",
        "bmm dims": "torch.bmm(a, b)",
        "addmm": "torch.addmm(torch.ones(7), torch.ones(2, 3), torch.ones(3, 4))",
        "dot": "torch.dot(torch.ones(3), torch.ones(4))",
        "dot 2d": "torch.dot(a, a)",
        "mv": "torch.mv(a, torch.ones(4))",
        "linear": "F.linear(a, torch.ones(4, 5))",
        "mm dtype": "torch.mm(torch.ones(2, 3), torch.ones(3, 2, dtype=torch.float64))",
        "matmul dtype int/float": "torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.int64)",
        "linear dtype": "F.linear(torch.ones(2, 3), torch.ones(4, 3, dtype=torch.float64))",
        "cat shape": "torch.cat([a, b])",
        "cat ndim": "torch.cat([a, torch.ones(3)])",
        "cat 0d": "torch.cat([torch.tensor(1.0), torch.tensor(2.0)])",
        "cat empty list": "torch.cat([])",
        "cat dim": "torch.cat([a, a], dim=5)",
        "cat mixed dtype": "torch.cat([a, a.long()]).dtype",
        "cat mixed dev": "torch.cat([a, a.to('meta')])",
        "cat not list": "torch.cat(a, 3)",
        "cat list with int": "torch.cat([a, 3])",
        "cat legacy empty 1d": "torch.cat([torch.empty(0), a]).shape",
        "stack shape": "torch.stack([a, b])",
        "stack empty": "torch.stack([])",
        "view size": "a.view(4, 5)",
        "view non-contig": "a.t().view(6)",
        "view -1 twice": "a.view(-1, -1)",
        "view -1 indivisible": "a.view(4, -1)",
        "view -2": "a.view(-2, 3)",
        "view zero -1": "torch.ones(0, 3).view(0, -1)",
        "reshape": "a.reshape(4, 5)",
        "reshape -1 twice": "a.reshape(-1, -1)",
        "reshape -1 indivis": "a.reshape(4, -1)",
        "view dtype": "torch.ones(3, dtype=torch.int8).view(torch.int32)",
        "permute": "a.permute(0, 0)",
        "permute n": "a.permute(0, 1, 2)",
        "transpose": "a.transpose(0, 5)",
        "t 3d": "torch.ones(1, 2, 3).t()",
        "squeeze dim": "a.squeeze(5)",
        "unsqueeze dim": "a.unsqueeze(5)",
        "sum dim": "a.sum(5)",
        "sum dim dup": "a.sum((0, 0))",
        "max empty": "torch.empty(0).max()",
        "argmax empty": "torch.empty(0).argmax()",
        "mean int": "torch.ones(2, dtype=torch.int64).mean()",
        "softmax int": "torch.softmax(torch.ones(2, dtype=torch.int64), 0)",
        "chunk 0": "a.chunk(0)",
        "split": "a.split([1, 2])",
        "flatten": "a.flatten(1, 0)",
        "as_strided oob": "a.as_strided((10,), (1,))",
        "narrow": "a.narrow(0, 1, 5)",
        "resize_ rg": "torch.ones(2, requires_grad=True).resize_(3)",
        "empty neg": "torch.empty(-1)",
        "arange": "torch.arange(0, 5, 0)",
        "arange sign": "torch.arange(5, 0, 1)",
        "linspace": "torch.linspace(0, 1, -1)",
        "ragged tensor": "torch.tensor([[1, 2], [3]])",
        "tensor of str": "torch.tensor('a')",
        "tensor of None": "torch.tensor([None])",
        "tensor of obj": "torch.tensor(object())",
    },
    "dtype": {
        "float + complex out": "torch.ones(2).add_(torch.ones(2, dtype=torch.complex64))",
        "int add_ float": "torch.ones(2, dtype=torch.int64).add_(1.5)",
        "int div_": "torch.ones(2, dtype=torch.int64).div_(2)",
        "int div_ tensor": "torch.ones(2, dtype=torch.int64).div_(torch.ones(2))",
        "bool - bool": "torch.ones(2, dtype=torch.bool) - torch.ones(2, dtype=torch.bool)",
        "bool neg": "-torch.ones(2, dtype=torch.bool)",
        "float &": "torch.ones(2) & torch.ones(2)",
        "~float": "~torch.ones(2)",
        "uint8 neg": "-torch.ones(2, dtype=torch.uint8)",
        "alpha float on int": "torch.add(torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.int64), alpha=1.5)",
        "complex compare": "torch.ones(2, dtype=torch.complex64) < torch.ones(2, dtype=torch.complex64)",
        "promote uint16": "torch.ones(2, dtype=torch.uint16) + torch.ones(2, dtype=torch.int32)",
        "promote fp8": "torch.ones(2).to(torch.float8_e4m3fn) + torch.ones(2).to(torch.float8_e5m2)",
        "not implemented for dtype": "torch.ones(2, dtype=torch.float8_e4m3fn).sin()",
        "exp bool?": "torch.ones(2, dtype=torch.bool).exp().dtype",
        "remainder complex": "torch.remainder(torch.ones(2, dtype=torch.complex64), 2)",
        "int ** neg": "torch.ones(2, dtype=torch.int64) ** (-1)",
        "requires_grad int": "torch.ones(2, dtype=torch.int64, requires_grad=True)",
        "requires_grad_ int": "torch.ones(2, dtype=torch.int64).requires_grad_()",
        "dtype string": "torch.ones(2, dtype='float32')",
        "int() nan": "int(torch.tensor(float('nan')))",
        "scalar overflow": "torch.ones(2, dtype=torch.int8) + 300",
        "full overflow": "torch.full((2,), 300, dtype=torch.int8)",
        "tensor overflow": "torch.tensor(300, dtype=torch.int8)",
        "tensor py overflow int64": "torch.tensor(2 ** 63)",
    },
    "item/bool": {
        "item >1": "a.item()",
        "item 0": "torch.empty(0).item()",
        "bool >1": "bool(a)",
        "bool empty": "bool(torch.empty(0))",
        "float()": "float(a)",
        "int()": "int(a)",
        "index()": "[1, 2][torch.tensor(1.0)]",
        "index int ok": "[1, 2][torch.tensor(1)]",
        "len 0d": "len(torch.tensor(1))",
        "iter 0d": "iter(torch.tensor(1))",
        "tolist meta": "torch.ones(2, device='meta').tolist()",
        "item meta": "torch.ones((), device='meta').item()",
        "numpy meta": "torch.ones(2, device='meta').numpy()",
        "numpy rg": "torch.ones(2, requires_grad=True).numpy()",
        "bool meta": "bool(torch.ones((), device='meta'))",
        "meta to cpu": "torch.ones(2, device='meta').to('cpu')",
        "meta cpu()": "torch.ones(2, device='meta').cpu()",
        "meta repr": "torch.ones(2, device='meta')",
        "meta nonzero": "torch.ones(2, device='meta').nonzero()",
        "meta bool mask": "torch.ones(2, device='meta')[torch.ones(2, dtype=torch.bool, device='meta')]",
        "meta equal": "torch.equal(torch.ones(2, device='meta'), torch.ones(2, device='meta'))",
        "meta allclose": "torch.allclose(torch.ones(2, device='meta'), torch.ones(2, device='meta'))",
        "meta data_ptr": "torch.ones(2, device='meta').data_ptr()",
        "meta copy_ from cpu": "torch.ones(2, device='meta').copy_(torch.ones(2))",
        "cpu copy_ from meta": "torch.ones(2).copy_(torch.ones(2, device='meta'))",
        "contains str": "'a' in a",
    },
    "index": {
        "oob": "a[5]",
        "oob dim1": "a[0, 7]",
        "too many": "a[0, 0, 0]",
        "0d index": "torch.tensor(1)[0]",
        "float index": "a[1.5]",
        "float tensor idx": "a[torch.ones(2)]",
        "str idx": "a['x']",
        "mask shape": "a[torch.ones(3, dtype=torch.bool)]",
        "adv oob": "a[torch.tensor([7])]",
        "adv neg oob": "a[torch.tensor([-7])]",
        "adv bcast": "a[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]",
        "step neg": "a[::-1]",
        "setitem shape": "a.clone().__setitem__(0, torch.ones(4))",
        "setitem bool mask": "a.clone().__setitem__(a > 0, torch.ones(4))",
        "two ellipsis": "a[..., ...]",
        "gather idx": "torch.gather(a, 0, torch.tensor([[9]]))",
        "gather dtype": "torch.gather(a, 0, torch.tensor([[0.0]]))",
        "gather dims": "torch.gather(a, 0, torch.tensor([0]))",
        "index_select": "a.index_select(0, torch.tensor([9]))",
        "embedding": "F.embedding(torch.tensor([9]), a)",
        "scatter": "torch.ones(2, 3).scatter(0, torch.tensor([[9]]), 1.0)",
        "select": "a.select(0, 9)",
        "take": "torch.take(a, torch.tensor([99]))",
    },
    "device": {
        "bad type": "torch.device('foo')",
        "bad idx": "torch.device('cpu:x')",
        "neg": "torch.device('cuda:-2')",
        "empty": "torch.device('')",
        "double": "torch.device('cuda:0:1')",
        "leading 0": "torch.device('cuda:01')",
        "cuda without": "torch.ones(2, device='cuda')",
        "mps without": "torch.ones(2, device='mps')",
        "xla": "torch.ones(2, device='xla')",
        "privateuseone": "torch.ones(2, device='privateuseone')",
        "cpu:1": "torch.ones(2, device='cpu:1').device",
        "to bad": "a.to('foo')",
        "to nonsense": "a.to(object())",
        "mixed device add": "a + a.to('meta')",
        "mixed device 0d": "(torch.tensor(2.0) + a.to('meta')).device",
        "mixed where": "torch.where(a > 0, a, a.to('meta'))",
        "meta index cpu": "a.to('meta')[torch.tensor([0])].shape",
        "mixed in-place": "a.clone().add_(a.to('meta'))",
        "device of list": "torch.device(['cpu'])",
        "device kw": "torch.device(type='cpu', index=-3)",
    },
    "autograd": {
        "backward no grad": "torch.ones(2).sum().backward()",
        "backward non-scalar": "(R(2) * 2).backward()",
        "backward twice": "(lambda y: (y.backward(), y.backward()))((R(2) * R(2)).sum())",
        "backward twice (linear graph no saved)": "(lambda y: (y.backward(), y.backward()))((R(2) + 1).sum())",
        "backward grad shape": "(R(2) * 2).backward(torch.ones(3))",
        "backward grad dtype": "(R(2) * 2).backward(torch.ones(2, dtype=torch.complex64))",
        "backward int": "torch.ones(2, dtype=torch.int64).sum().backward()",
        "grad unused": "torch.autograd.grad(R(2).sum(), R(2))",
        "grad unused allow": "torch.autograd.grad(R(2).sum(), R(2), allow_unused=True)",
        "grad input no rg": "torch.autograd.grad(R(2).sum(), torch.ones(2))",
        "grad non scalar": "torch.autograd.grad(R(2) * 2, R(2))",
        "grad len": "torch.autograd.grad([R(2).sum()], [R(2)], [None, None])",
        "in-place on leaf": "leaf_inplace()",
        "in-place on view of leaf": "leaf_view_inplace()",
        "setitem on leaf": "setitem_leaf()",
        "in-place on leaf in no_grad": "nograd_leaf()",
        "version counter (output saved)": "ver()",
        "version counter (input saved)": "ver2()",
        "version counter + anomaly": "ver3()",
        ".data bypass": "ver4()",
        "version: leaf input modified": "ver5()",
        "version: through view write": "ver6()",
        "version: through detach": "ver7()",
        "in-place on multi-output view": "split_view()",
        "in-place on unbind view": "unbind_view()",
        "in-place on view created in no_grad": "view_nograd()",
        "in-place on inference tensor outside": "inference()",
        "save inference tensor for backward": "inference2()",
        "requires_grad_ on inference tensor": "inference3()",
        "_version of inference tensor": "inference4()",
        "rg=False on non leaf": "(R(2) * 2).requires_grad_(False)",
        "setting rg on nonleaf": "setattr(R(2) * 2, 'requires_grad', False)",
        "grad of non-leaf": "(R(2) * 2).grad",
        "set grad wrong shape": "setattr(R(2), 'grad', torch.ones(3))",
        "set grad wrong dtype": "setattr(R(2), 'grad', torch.ones(2, dtype=torch.float64))",
        "set grad wrong type": "setattr(R(2), 'grad', 3)",
        "set grad wrong device": "setattr(R(2), 'grad', torch.ones(2, device='meta'))",
        "set grad self": "(lambda x: setattr(x, 'grad', x))(R(2))",
        "out= with grad": "torch.add(R(2), R(2), out=torch.ones(2))",
        "out= requires grad": "torch.add(torch.ones(2), torch.ones(2), out=R(2))",
        "deepcopy nonleaf": "__import__('copy').deepcopy(R(2) * 2)",
        "retain_grad no rg": "torch.ones(2).retain_grad()",
        "register_hook no rg": "torch.ones(2).register_hook(lambda g: g)",
        "hook returns bad": "(lambda x: (x.register_hook(lambda g: 3), (x * 2).sum().backward()))(R(2))",
        "hook returns bad shape": "(lambda x: (x.register_hook(lambda g: torch.ones(7)), (x * 2).sum().backward()))(R(2))",
        "Function too many grads": "Fn.apply(R(2)).sum().backward()",
        "Function too few grads": "Fn2.apply(R(2), R(2)).sum().backward()",
        "Function bad grad shape": "Fn3.apply(R(2)).sum().backward()",
        "Function no backward": "Fn4.apply(R(2)).sum().backward()",
        "save_for_backward non tensor": "Fn5.apply(R(2))",
        "Function instance call": "Fn()(R(2))",
        "Function returns int": "Fn6.apply(R(2))",
        "once_differentiable": "once()",
        "Function inplace w/o mark_dirty": "Fn8.apply(R(2) * 1)",
        "mark_dirty leaf": "Fn9.apply(R(2))",
        "anomaly nan": "anomaly_nan()",
        "custom op without autograd: requires_grad of result": "torch.ops.ag.f(R(2)).requires_grad",
        "custom op without autograd: backward": "torch.ops.ag.f(R(2)).sum().backward()",
        "custom op w/o autograd: grad_fn": "torch.ops.ag.f(R(2)).grad_fn",
        "mode warn: backward": "torch.ops.ag.f(R(2)).sum().backward()",
        "set mode error": "torch._C._set_autograd_fallback_mode('error')",
        "mode nothing: requires_grad": "torch.ops.ag.f(R(2)).requires_grad",
        "not differentiable aten": "torch.argmax(R(3)).requires_grad",
        "round int grad": "R(3).round().sum().backward()",
        "derivative missing": "torch.nextafter(R(2), torch.ones(2)).sum().backward()",
        "forward AD missing": "torch.autograd.forward_ad.make_dual(R(2), torch.ones(2))",
        "is_leaf/inplace on expanded": "torch.ones(1).expand(3).add_(1)",
        "inplace overlap self": "(lambda x: x[1:].add_(x[:-1]))(torch.ones(4))",
        "inplace overlap mem": "torch.ones(1).expand(3).copy_(torch.ones(3))",
    },
}


def definitions(torch, R):
    """What the calls about autograd use: small programs, and functions with their own gradient."""
    Function = torch.autograd.Function

    def leaf_inplace():
        x = R(2)
        x.add_(1)

    def leaf_view_inplace():
        x = R(2, 2)
        x[0].add_(1)

    def setitem_leaf():
        x = R(2)
        x[0] = 3

    def nograd_leaf():
        x = R(2)
        with torch.no_grad():
            x.add_(1)
        return x

    def ver():
        x = R(2)
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    def ver2():
        x = R(2)
        z = x * 2
        y = z * z
        z.add_(1)
        y.sum().backward()

    def ver3():
        with torch.autograd.set_detect_anomaly(True):
            ver2()

    def changed(change):
        x = torch.ones(2)
        w = R(2)
        y = x * w
        change(x)
        y.sum().backward()
        return w.grad

    def ver4():
        return changed(lambda x: x.data.add_(1))

    def ver5():
        return changed(lambda x: x.add_(1))

    def ver6():
        return changed(lambda x: x.__setitem__(0, 5))

    def ver7():
        return changed(lambda x: x.detach().add_(1))

    def split_view():
        x = R(4) * 1
        first, _ = x.split(2)
        first.add_(1)

    def unbind_view():
        x = R(2, 2) * 1
        first, _ = x.unbind(0)
        first.mul_(2)
        return x

    def view_nograd():
        x = R(2, 2) * 1
        with torch.no_grad():
            v = x[0]
        v.add_(1)

    def made_in_inference_mode():
        with torch.inference_mode():
            return torch.ones(2)

    def inference():
        return made_in_inference_mode().add_(1)

    def inference2():
        return R(2) * made_in_inference_mode()

    def inference3():
        made_in_inference_mode().requires_grad_()

    def inference4():
        return made_in_inference_mode()._version

    def once():
        x = R(2)
        y = Fn7.apply(x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        g.sum().backward()

    def anomaly_nan():
        with torch.autograd.detect_anomaly():
            x = torch.zeros(2, requires_grad=True)
            (x / x).sum().backward()

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Same(Function):
        @staticmethod
        def backward(ctx, g):
            return g

    class Fn(Double):
        @staticmethod
        def backward(ctx, g):
            return (g, g)

    class Fn2(Same):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2 + y

    class Fn3(Double):
        @staticmethod
        def backward(ctx, g):
            return torch.ones(5)

    class Fn4(Double):
        pass

    class Fn5(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x

    class Fn6(Function):
        @staticmethod
        def forward(ctx, x):
            return 3

    class Fn7(Double):
        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2

    class Fn8(Same):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            return x

    class Fn9(Same):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.add_(1)
            return x

    return locals()
