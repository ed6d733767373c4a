"""What optimizers do that few programs ask for, beside PyTorch: refusals, warnings, states and names."""

from importlib import import_module

from refused_words import words_are

from same_results import names_of, results_are, scenarios_are


def leaf(lib, *shape, dtype=None, grad=None):
    p = lib.nn.Parameter(lib.ones(shape or (2,), dtype=dtype))
    p.grad = lib.ones_like(p) * 0.5 if grad is None else grad
    return p


def inner(lib):
    return import_module(f"{lib.__name__}.optim.optimizer")


def rows(lib, *at):
    """A sparse gradient of some rows of three."""
    return lib.sparse_coo_tensor(lib.tensor([at]), lib.ones(len(at), 2), (3, 2))


def stepped(optimizer, times=2):
    for _ in range(times):
        optimizer.step()
    return optimizer.param_groups[0]["params"][0]


names = names_of(
    "optim",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "optim.optimizer",
    leaf=lambda lib: lambda *shape, **named: leaf(lib, *shape, **named),
    rows=lambda lib: lambda *at: rows(lib, *at),
    stepped=lambda lib: stepped,
    sgd=lambda lib: lambda lr=1.0, **named: lib.optim.SGD([leaf(lib)], lr, **named),
    ints=lambda lib: lambda: lib.ones(2, dtype=lib.int64),
    sparse=lambda lib: lambda: rows(lib, 0, 2),
)

test_refusals_of_steps = results_are(
    """
    ! stepped(optim.Muon([leaf(2, 2, dtype=torch.complex64)]))
    ! stepped(optim.Adagrad([leaf(3, 2, grad=rows(1))], weight_decay=0.1))
    ! stepped(optim.Adam([leaf()], lr=torch.tensor(0.1), foreach=True))
    ! optim.Adam([leaf()], fused=True, foreach=True)
    ! optim.Adam([leaf()], fused=True, differentiable=True)
    ! optim.LBFGS([leaf()], line_search_fn="weak").step(lambda: torch.ones(1))
    ! stepped(optim.SparseAdam([leaf()]))
    ! optim.SparseAdam([sparse()])
    ! optim.SparseAdam([leaf(), leaf(dtype=torch.complex64)])
    ! optim.SparseAdam([leaf()], lr=0.0)
    ! optim.SparseAdam([leaf()], eps=0.0)
    ! stepped(optim.Adam([leaf(3, 2, grad=rows(1))]))
    ! optim.SGD([leaf() * 2], 1.0)
    ! optim.SGD([3], 1.0)
    ! optim.SGD(leaf(), 1.0)
    ! optim.SGD([{"params": {leaf()}}], 1.0)
    ! optim.SGD([], 1.0)
    ! optim.SGD([("a", leaf()), leaf()], 1.0)
    ! sgd().add_param_group(3)
    ! sgd().add_param_group({"params": [("a", leaf())]})
    ! optim.Optimizer([leaf()], {"lr": optimizer.required})
    ! optim.Optimizer([leaf()], {"lr": 0.1}).step()
    ! optim.Optimizer([{"params": [leaf()]}, {"params": [leaf()]}], {}).load_state_dict(sgd().state_dict())
    ! optim.SGD([leaf(), leaf()], 1.0).load_state_dict(sgd().state_dict())
    repr(optimizer.required)
    optimizer._get_value(torch.tensor([3.0]))
    optimizer._get_value(3)
    optimizer._to_scalar(torch.tensor([3.0]))
    optimizer._to_scalar(torch.tensor(3.0))
    optimizer._to_scalar(3)
    optimizer._stack_if_compiling([1, 2])
    optimizer._get_scalar_dtype()
    optimizer._get_scalar_dtype(True)
    optimizer._disable_dynamo_if_unsupported()(abs)(-3)
    optimizer._default_to_fused_or_foreach([leaf()], False)
    """,
    names,
)

test_our_own_words = words_are(
    "",
    {
        "stepped(optim.Adam([leaf(dtype=torch.complex64)], fused=True))": "`fused=True` requires all the "
        "params to be floating point Tensors of supported devices, but torch.complex64 and cpu",
    },
    names,
)

test_steps = results_are(
    """
    stepped(optim.SparseAdam([leaf(3, 2, grad=rows(0, 2))]))
    stepped(optim.SparseAdam([leaf(3, 2, grad=rows(0, 0))]))
    stepped(optim.SparseAdam([leaf(3, 2, grad=rows(0, 2))], maximize=True))
    stepped(optim.SparseAdam([leaf(3, 2, grad=torch.zeros(3, 2).to_sparse())]))
    stepped(optim.SGD([leaf(3, 2, grad=rows(0, 2))], 0.1, momentum=0.9, dampening=0.5))
    stepped(optim.SGD([leaf(3, 2, grad=rows(0, 2))], 0.1, momentum=0.9, nesterov=True))
    stepped(optim.SGD([leaf(3, 2, grad=rows(0, 2))], 0.1, maximize=True))
    stepped(optim.Adagrad([leaf(3, 2, grad=rows(0, 2))], lr_decay=0.1), 3)
    stepped(optim.Adagrad([leaf(dtype=torch.complex64)], initial_accumulator_value=0.25))
    optim.Adagrad([leaf()], initial_accumulator_value=0.25).share_memory()
    stepped(optim.RAdam([leaf()], weight_decay=0.1, decoupled_weight_decay=True), 7)
    stepped(optim.RAdam([leaf()], weight_decay=0.1), 7)
    stepped(optim.NAdam([leaf()], weight_decay=0.1, decoupled_weight_decay=True), 3)
    """,
    names,
)


def zeroed(lib):
    """Gradients set to zero, also those with a history, and those that are not there."""
    p, q, r = leaf(lib), leaf(lib), leaf(lib)
    w = lib.ones(2, requires_grad=True)
    p.grad, q.grad, r.grad = w * 2, None, lib.ones(2, requires_grad=True)
    held = p.grad, r.grad
    lib.optim.SGD([p, q, r], 1.0).zero_grad(set_to_none=False)
    return (
        p.grad,
        q.grad,
        r.grad,
        [g.requires_grad for g in held],
        held[0].is_leaf,
        held[0] is p.grad,
    )


def given_twice(lib):
    p = leaf(lib)
    return len(lib.optim.SGD([p, p], 1.0).param_groups[0]["params"])


def in_two_groups(lib):
    p = leaf(lib)
    lib.optim.SGD([{"params": p}, {"params": [p]}], 1.0)


def by_names(lib):
    """Names are kept, and those of a state are taken."""
    found = []
    for given in ("a", None):
        own = lib.optim.SGD([("w", leaf(lib))], 1.0)
        other = leaf(lib) if given is None else (given, leaf(lib))
        own.load_state_dict(lib.optim.SGD([other], 0.5).state_dict())
        found.append((own.param_groups[0]["param_names"], own.param_groups[0]["lr"]))
    return found


def odd_states(lib):
    """Keys that are no parameters stay; lists keep their type; numbers of ints do not become floats."""
    p, q = leaf(lib), leaf(lib, dtype=lib.float64)
    own = lib.optim.SGD([p, q], 1.0)
    state = own.state_dict()
    state["state"] = {
        "free": {"x": 3},
        0: {"pairs": [lib.ones(2, dtype=lib.float64)], "t": (lib.ones(2),), "step": lib.tensor(2)},
        1: {"m": lib.ones(2), "inner": {"step": lib.tensor(1)}},
    }
    own.load_state_dict(state)
    return own.state["free"], own.state[p], own.state[q]


def of_ints(lib):
    """The state of a parameter of whole numbers keeps its dtype."""
    p = lib.ones(2, dtype=lib.int64)
    own = lib.optim.SGD([p], 1.0)
    state = own.state_dict()
    state["state"] = {0: {"m": lib.ones(2) / 2}}
    own.load_state_dict(state)
    return own.state[p]


def recorded_or_not(lib):
    """What a step of somebody else is wrapped in."""
    wrap = inner(lib)._use_grad_for_differentiable

    class Own(lib.optim.Optimizer):
        @wrap
        def step(self, more):
            return lib.is_grad_enabled(), more

    found = []
    for differentiable in (False, True):
        own = Own([leaf(lib)], {"differentiable": differentiable})
        found.append((own.step(3), lib.is_grad_enabled()))
    return found, Own.step.__name__


def complex_views(lib):
    views = inner(lib)._view_as_real
    params = [lib.ones(2), lib.ones(2, dtype=lib.complex64)]
    state = [lib.zeros(2), lib.zeros(2, dtype=lib.complex64) + 2j]
    views(params, state)
    return params, state


def averages_of_whole_numbers(lib):
    """Buffers of whole numbers are averaged too, if buffers are."""
    model = lib.nn.BatchNorm1d(2)
    averaged = lib.optim.swa_utils.AveragedModel(model, device="cpu", use_buffers=True)
    for n in range(3):
        model.num_batches_tracked.fill_(4 * n)
        model.running_mean.fill_(n)
        model.weight.data.fill_(n)
        averaged.update_parameters(model)
    return dict(averaged.state_dict())


def buffers_are_copied(lib):
    """Without use_buffers the last ones are there."""
    model = lib.nn.BatchNorm1d(2)
    averaged = lib.optim.swa_utils.AveragedModel(model)
    for n in range(3):
        model.running_mean.fill_(n)
        model.weight.data.fill_(n)
        averaged.update_parameters(model)
    return dict(averaged.state_dict())


def norms_of_nothing(lib):
    """A model without norms is not run."""
    asked = []
    model = lib.nn.Linear(2, 2)
    model.register_forward_hook(lambda *_: asked.append(1))
    lib.optim.swa_utils.update_bn([lib.ones(3, 2)], model)
    return asked, model.training


def both_ways_of_averages(lib):
    def one(a, b, n):
        return a

    lib.optim.swa_utils.AveragedModel(lib.nn.Linear(2, 2), avg_fn=one, multi_avg_fn=one)


test_states_and_averages = scenarios_are(
    zeroed,
    given_twice,
    in_two_groups,
    by_names,
    odd_states,
    of_ints,
    recorded_or_not,
    complex_views,
    averages_of_whole_numbers,
    buffers_are_copied,
    norms_of_nothing,
    both_ways_of_averages,
)
