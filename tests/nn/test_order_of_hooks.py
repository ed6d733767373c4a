"""In which order hooks are called: in that of their registration, and those to be first before all others."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

OF_MODULES = {
    "register_forward_pre_hook": lambda mod, args: None,
    "register_forward_hook": lambda mod, args, out: None,
    "register_full_backward_pre_hook": lambda mod, grads: None,
    "register_full_backward_hook": lambda mod, grads, outs: None,
    "register_load_state_dict_pre_hook": None,
    "register_state_dict_pre_hook": None,
    "register_load_state_dict_post_hook": None,
}
FIRST = [*OF_MODULES][:4]  # those that may be asked to be first


def noting(events, name):
    """A hook of any number of arguments that changes nothing."""

    def hook(*args, **kwargs):
        events.append(name)

    return hook


@pytest.mark.parametrize("register", OF_MODULES)
def test_hooks_of_a_module(register):
    def played(lib):
        module, events = lib.nn.Linear(2, 2), []
        first = {"prepend": True} if register in FIRST else {}
        for name, options in (("a", {}), ("b", {}), ("c", first), ("d", {}), ("e", first)):
            getattr(module, register)(noting(events, name), **options)
        for _ in range(2):
            module(lib.ones(1, 2, requires_grad=True)).sum().backward()
            module.load_state_dict(module.state_dict())
        return events

    assert played(torch) == played(pt)


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "full_backward_pre", "full_backward"])
def test_hooks_of_all_modules_come_before_a_modules_own(kind):
    def played(lib):
        module, events = lib.nn.Linear(2, 2), []
        getattr(module, f"register_{kind}_hook")(noting(events, "own"), prepend=True)
        register = getattr(lib.nn.modules.module, f"register_module_{kind}_hook")
        with register(noting(events, "all")), register(noting(events, "all again")):
            module(lib.ones(1, 2, requires_grad=True)).sum().backward()
        return events

    assert played(torch) == played(pt)


@pytest.mark.parametrize(
    "kind", ["state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"]
)
def test_hooks_of_an_optimizer(kind):
    optimizer, events = torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1), []
    register = getattr(optimizer, f"register_{kind}_hook")
    for name, first in (("a", False), ("b", True), ("c", False), ("d", True)):
        register(noting(events, name), prepend=first)
    optimizer.load_state_dict(optimizer.state_dict())
    assert events == [
        "d",
        "b",
        "a",
        "c",
    ]  # not asked of PyTorch, whose optimizers load its compiler
