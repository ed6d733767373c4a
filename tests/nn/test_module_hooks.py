"""Hooks of modules do what they do in PyTorch."""

import pytest
from collecting import Scenarios
from module_scenarios import attempt, fill, numbers, play, warned

import mindtorch_core as torch

scenario = Scenarios()


def net(t):
    return fill(t, t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 2)))


@scenario
def forward_hooks(t):
    m, events = net(t), []
    handles = [
        m.register_forward_pre_hook(lambda mod, args: events.append("pre")),
        m.register_forward_pre_hook(lambda mod, args: (args[0] + 1,), prepend=True),
        m.register_forward_hook(lambda mod, args, out: events.append(("out", numbers(args[0])))),
        m.register_forward_hook(lambda mod, args, out: out * 2),
        m.register_forward_hook(
            lambda mod, args, kwargs, out: events.append(sorted(kwargs)), with_kwargs=True
        ),
    ]
    first = numbers(m(t.ones(1, 3)))
    handles[1].remove()
    with handles[3]:
        pass
    return [
        first,
        numbers(m(t.ones(1, 3))),
        events,
        len(m._forward_hooks),
        len(m._forward_hooks_with_kwargs),
    ]


@scenario
def pre_hooks_with_kwargs(t):
    class Scale(t.nn.Module):
        def forward(self, x, *, by=1):
            return x * by

    m = Scale()
    handle = m.register_forward_pre_hook(
        lambda mod, args, kwargs: (args, {"by": kwargs.get("by", 1) + 1}), with_kwargs=True
    )
    first = numbers(m(t.ones(2), by=3))
    handle.remove()
    bad = m.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
    found = [first, attempt(lambda: m(t.ones(1)))[0], len(m._forward_pre_hooks_with_kwargs)]
    bad.remove()
    return [*found, numbers(m(t.ones(2)))]


@scenario
def hooks_that_are_always_called(t):
    class Bad(t.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    m, events = Bad(), []
    m.register_forward_hook(lambda mod, args, out: events.append(out), always_call=True)
    m.register_forward_hook(lambda mod, args, out: events.append("never"))
    return [attempt(lambda: m(t.ones(1))), events]


@scenario
def hooks_that_are_always_called_are_called_once(t):
    events, found = [], []
    modules, always = t.nn.modules.module, {"always_call": True}

    def fail(mod, args, out):
        raise ValueError("no")

    for failing in ("none", "one of all modules", "one of the module"):
        m = t.nn.Identity()
        handles = [
            modules.register_module_forward_hook(lambda m, a, out: events.append("all"), **always),
            m.register_forward_hook(lambda m, a, out: events.append("own"), **always),
        ]
        if failing == "one of all modules":
            handles.append(modules.register_module_forward_hook(fail))
        if failing == "one of the module":
            handles.append(m.register_forward_hook(fail))
        m.register_forward_hook(lambda m, a, out: events.append("last"), **always)
        found += [failing, attempt(lambda m=m: numbers(m(t.ones(1)))), [*events]]
        del events[:]
        for handle in handles:
            handle.remove()
    return found


@scenario
def global_hooks(t):
    m, events = net(t), []
    modules = t.nn.modules.module
    handles = [
        modules.register_module_forward_pre_hook(lambda mod, a: events.append(type(mod).__name__)),
        modules.register_module_forward_hook(lambda mod, a, out: events.append("after")),
    ]
    m(t.ones(1, 3))
    for handle in handles:
        handle.remove()
    m(t.ones(1, 3))
    registered = []
    with modules.register_module_parameter_registration_hook(
        lambda mod, name, p: registered.append(name)
    ):
        t.nn.Linear(1, 1)
    return [events, registered]


def backward_events(t, inputs_need_grad, **kwargs):
    m, events = net(t), []
    m.register_full_backward_pre_hook(lambda mod, go: events.append(("pre", numbers(go[0]))))
    m.register_full_backward_hook(
        lambda mod, gi, go: events.append(("full", numbers(gi[0]), numbers(go[0]))), **kwargs
    )
    m[0].register_full_backward_hook(
        lambda mod, gi, go: (
            tuple(None if g is None else g * 2 for g in gi) if gi[0] is not None else None
        )
    )
    x = t.ones(2, 3, requires_grad=inputs_need_grad)
    m(x).sum().backward()
    return [events, numbers(x.grad), numbers(m[0].weight.grad)]


@scenario
def full_backward_hooks(t):
    return backward_events(t, True)


@scenario
def full_backward_hooks_without_inputs_that_require_grad(t):
    return backward_events(t, False)


@scenario
def full_backward_hooks_of_several_inputs(t):
    class Two(t.nn.Module):
        def forward(self, x, text, y):
            return x * y, x + y

    m, events = Two(), []
    m.register_full_backward_hook(
        lambda mod, gi, go: events.append([[numbers(g) for g in gi], [numbers(g) for g in go]])
    )
    x, y = t.ones(2, requires_grad=True), t.full((2,), 3.0)
    a, _ = m(x, "text", y)
    (a.sum() * 2).backward()
    return [events, numbers(x.grad), numbers(y.grad)]


@scenario
def backward_hooks_that_are_wrong(t):
    def with_hook(register, hook):
        m = t.nn.Linear(2, 2)
        fill(t, m)
        getattr(m, register)(hook)
        x = t.ones(1, 2, requires_grad=True)
        return attempt(lambda: m(x).sum().backward())[:2]

    m = t.nn.Linear(1, 1)
    m.register_full_backward_hook(lambda *a: None)
    return [
        with_hook("register_full_backward_hook", lambda m, gi, go: (gi[0], gi[0])),
        with_hook("register_full_backward_pre_hook", lambda m, go: (go[0], go[0])),
        with_hook("register_full_backward_pre_hook", lambda m, go: (go[0] * 3,)),
        attempt(lambda: m.register_backward_hook(lambda *a: None)),
    ]


@scenario
def hooks_that_are_not_full(t):
    m, events = t.nn.Linear(2, 2), []
    fill(t, m)
    m.register_backward_hook(lambda mod, gi, go: events.append(numbers(go[0])))
    x = t.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    return [events, numbers(x.grad)]


@scenario
def what_hooks_that_are_not_full_miss(t):
    """Which of PyTorch's reasons a warning gives."""
    reasons = (
        "does not return a",
        "does not take as input",
        "generated by different",
        "contains multiple",
    )

    def told(forward, *args):
        m = type("Any", (t.nn.Module,), {"forward": lambda self, *args: forward(*args)})()
        m.register_backward_hook(lambda *a: None)
        return [
            (kind, [reason for reason in reasons if reason in text])
            for kind, text in warned(lambda: m(*args))
        ]

    x, y = t.ones(2, requires_grad=True) * 1, t.ones(2, requires_grad=True) * 2
    return [
        told(lambda x: x * 2, x),
        told(lambda x: (x * 2,), x),
        told(lambda x, y: x * y, x, y),
        told(lambda x: x.chunk(2), x),
        told(lambda x: [x * 2], x),
        told(lambda x: {"a": x * 2}, x),
        told(lambda x: (x * 2, 1), x),
        told(lambda x, n: x * n, x, 2),
        told(lambda xs: xs[0] * 2, [x]),
        told(lambda x: (x * 2, x * 3), x),
        told(lambda x: (x * 2).exp(), x),
        told(lambda x, y: x * 2, x, y),
    ]


GIVEN_BACK = {
    "nothing": lambda t: None,
    "None": lambda t: (None,),
    "two Nones": lambda t: (None, None),
    "a tensor": lambda t: t.ones(1, 3),
    "a tuple": lambda t: (t.ones(1, 3),),
    "one of two": lambda t: (None, t.ones(1, 3)),
    "a list": lambda t: [None],
    "empty": lambda t: (),
}


@scenario
def backward_hooks_where_no_input_requires_grad(t):
    found = []
    for given in GIVEN_BACK.values():
        m, seen = t.nn.Linear(3, 2), []
        m.register_full_backward_hook(
            lambda mod, grad_input, grad_output, seen=seen: seen.append(
                (grad_input, [numbers(g) for g in grad_output])
            )
        )
        m.register_full_backward_hook(lambda mod, g, o, given=given: given(t))
        told = []

        def run(m=m, told=told):
            told.append(attempt(lambda: m(t.ones(1, 3)).sum().backward()))

        found.append([[(kind, text[:120]) for kind, text in warned(run)], told, seen])
    return found


@scenario
def backward_hooks_where_one_of_two_inputs_requires_grad(t):
    class Product(t.nn.Module):
        def forward(self, a, n, b):
            return a * b * n, a + b

    found = []
    for first, second in ((True, True), (True, False), (False, True)):
        m = Product()
        m.register_full_backward_hook(
            lambda mod, i, o: found.append(
                [[None if g is None else numbers(g) for g in x] for x in (i, o)]
            )
        )
        a, b = t.ones(2, requires_grad=first), t.full((2,), 3.0, requires_grad=second)
        out, total = m(a, 5, b)
        out.sum().backward(retain_graph=True)
        total.sum().backward()
        found.append([None if x.grad is None else numbers(x.grad) for x in (a, b)])
    return found


@pytest.mark.parametrize("each", scenario, ids=lambda f: f.__name__)
def test_the_same_happens(each):
    play(each)


def test_hooks_before_backward_alone_have_nothing_to_warn_of():
    m, seen = torch.nn.Linear(3, 2), []
    m.register_full_backward_pre_hook(lambda mod, grads: seen.append(numbers(grads[0])))
    assert warned(lambda: m(torch.ones(1, 3)).sum().backward()) == []
    assert seen == [[1.0, 1.0]]
