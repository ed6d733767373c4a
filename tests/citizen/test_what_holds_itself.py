"""Containers and modules that hold themselves: what has no end says so, at once and in a line."""

import traceback

import pytest

import mindtorch_core as torch


def row():
    made = [torch.ones(2)]
    made.append((made,))
    return made


def table():
    made = {"x": torch.ones(2)}
    made["again"] = [made]
    return made


def cast(value):
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.bfloat16)
    def forward(ctx, value):
        return value

    with torch.autocast("cpu"):
        return forward(torch.nn.Module(), value)


OF_CONTAINERS = {
    "default_collate": lambda make: torch.utils.data.default_collate([make(), make()]),
    "default_convert": lambda make: torch.utils.data.default_convert(make()),
    "loader": lambda make: next(iter(torch.utils.data.DataLoader([make(), make()], batch_size=2))),
    "assert_close": lambda make: torch.testing.assert_close(make(), make()),
    "autocast": lambda make: cast(make()),
}


def told(call, kinds):
    with pytest.raises(RecursionError, match=f"^a ({kinds}) that holds itself has no end") as error:
        call()
    assert len(traceback.extract_tb(error.value.__traceback__)) < 20
    assert error.value.__context__ is None


@pytest.mark.parametrize("make", [row, table])
@pytest.mark.parametrize("call", OF_CONTAINERS.values(), ids=OF_CONTAINERS)
def test_containers(call, make):
    told(lambda: call(make), "list|dict|tuple")


def test_losses():
    told(lambda: torch.amp.GradScaler("cpu").scale(row()), "list|tuple")


def child_of_itself():
    made = torch.nn.Linear(2, 2)
    made.add_module("me", made)
    return made


def grandchild_of_itself():
    made = torch.nn.Sequential(torch.nn.Linear(2, 2))
    made.append(torch.nn.Sequential(made))
    return made


OF_MODULES = {
    "train": lambda m: m.train(),
    "eval": lambda m: m.eval(),
    "repr": repr,
    "state_dict": lambda m: m.state_dict(),
    "load_state_dict": lambda m: m.load_state_dict({}),
    "to": lambda m: m.to(torch.float64),
    "to_empty": lambda m: m.to_empty(device="cpu"),
    "share_memory": lambda m: m.share_memory(),
    "apply": lambda m: m.apply(print),
}


@pytest.mark.parametrize("make", [child_of_itself, grandchild_of_itself])
@pytest.mark.parametrize("call", OF_MODULES.values(), ids=OF_MODULES)
def test_modules(call, make):
    module = make()
    told(lambda: call(module), "Linear|Sequential")
    assert all(p.dtype is torch.float32 for p in module.parameters())


def test_what_has_an_end_is_found_once():
    module = child_of_itself()
    assert len(list(module.modules())) == 1
    assert len(list(module.parameters())) == 2
    assert module(torch.ones(2)).shape == (2,)


def test_what_is_only_deep_fails_as_before():
    deep = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(RecursionError, match="maximum recursion depth"):
        torch.utils.data.default_convert(deep)
    while deep:  # taken apart from above: its end would be as deep
        deep = deep.pop()
