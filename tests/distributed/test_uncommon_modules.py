"""Modules for several processes in a group of one: what wrappers, styles and policies refuse, warn of and tell."""

import copy
import importlib
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

nn = pytest.importorskip("mindtorch_nn")
DDP = nn.parallel.DistributedDataParallel
fsdp, parallel = torch.distributed.fsdp, torch.distributed.tensor.parallel


@pytest.fixture
def mesh():
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def frozen():
    return nn.Linear(2, 2).requires_grad_(False)


def badly_hooked(_, bucket):
    future = torch.futures.Future()
    future.set_result(bucket.buffer()[:1])
    return future


def of_no_tensor(_, bucket):
    future = torch.futures.Future()
    future.set_result([1, 2])
    return future


def annotated(state, bucket: int):
    raise AssertionError


def annotated_back(state, bucket) -> int:
    raise AssertionError


def with_hook(hook):
    model = DDP(nn.Linear(2, 2))
    model.register_comm_hook(None, hook)
    model(torch.ones(1, 2)).sum().backward()


REFUSED = [
    (lambda m: DDP(frozen()), RuntimeError, "doesn't have any parameter that requires a gradient"),
    (
        lambda m: DDP(nn.Linear(2, 2), device_mesh=dist.init_device_mesh("cpu", (1, 1))),
        RuntimeError,
        "Only 1D device mesh is supported",
    ),
    (
        lambda m: DDP(nn.Linear(2, 2), device_mesh=m, process_group=dist.group.WORLD),
        RuntimeError,
        "Cannot specify both process_group and device_mesh",
    ),
    (lambda m: with_hook(lambda state: None), ValueError, "called with a state and a bucket"),
    (lambda m: with_hook(annotated), ValueError, "bucket annotation should be dist.GradBucket"),
    (lambda m: with_hook(annotated_back), ValueError, "return annotation should be torch.futures"),
    (lambda m: with_hook(badly_hooked), RuntimeError, r"tensor of 6 elements, got \[1\]"),
    (lambda m: with_hook(of_no_tensor), RuntimeError, "tensor of 6 elements, got list"),
    (
        lambda m: fsdp.fully_shard(nn.Linear(2, 2), dp_mesh_dims=("a",)),
        NotImplementedError,
        "dp_mesh_dims is for DTensors",
    ),
    (
        lambda m: fsdp.fully_shard(nn.Linear(2, 2)).set_custom_all_gather(3),
        NotImplementedError,
        "set_custom_all_gather is not part of mindtorch",
    ),
    (
        lambda m: fsdp.fully_shard(nn.Linear(2, 2)).set_custom_reduce_scatter(3),
        NotImplementedError,
        "set_custom_reduce_scatter is not part of mindtorch",
    ),
    (
        lambda m: fsdp.fully_shard(nn.Linear(2, 2)).set_symm_mem_for_comm(),
        NotImplementedError,
        "set_symm_mem_for_comm is not part of mindtorch",
    ),
    (
        lambda m: fsdp.FullyShardedDataParallel(
            nn.Linear(2, 2), process_group=dist.group.WORLD, device_mesh=m
        ),
        ValueError,
        "Cannot pass both process_group and device_mesh",
    ),
    (
        lambda m: fsdp.FullyShardedDataParallel(
            nn.Linear(2, 2), ignored_modules=[], ignored_states=[]
        ),
        ValueError,
        "Cannot pass both ignored_modules and ignored_states",
    ),
    (
        lambda m: fsdp.FullyShardedDataParallel(nn.Linear(2, 2)).register_comm_hook(None, None),
        NotImplementedError,
        "use module.set_all_reduce_hook",
    ),
    (
        lambda m: parallel.parallelize_module(nn.Linear(2, 2), m, 3),
        TypeError,
        "for parallelize_plan",
    ),
    (
        lambda m: parallel.PrepareModuleInput(input_layouts=Shard(0)),
        AssertionError,
        "desired module inputs should not be None",
    ),
    (
        lambda m: parallel.PrepareModuleInput(
            input_layouts=(Shard(0),), desired_input_layouts=(Shard(0), Shard(0))
        ),
        AssertionError,
        "input_layouts and desired_input_layouts should have same length",
    ),
    (
        lambda m: parallel.PrepareModuleInput(
            input_kwarg_layouts={"x": Shard(0)}, desired_input_kwarg_layouts={}
        ),
        AssertionError,
        "input_kwarg_layouts and desired_input_kwarg_layouts should have same length",
    ),
    (
        lambda m: laid_out(m, ins=(Shard(0), Shard(0)))(torch.ones(1, 2)),
        ValueError,
        "module inputs and input_layouts should have same length",
    ),
    (
        lambda m: laid_out(m, outs=(Shard(0), Shard(0)))(torch.ones(1, 2)),
        ValueError,
        "module outputs and output_layouts should have same length",
    ),
    (
        lambda m: laid_out(m, ins=(Shard(0),))(3),
        AssertionError,
        "expecting input to be a torch.Tensor",
    ),
    (
        lambda m: parallel.parallelize_module(nn.LayerNorm(2), m, parallel.SequenceParallel())(3),
        ValueError,
        "to be a torch.Tensor or DTensor, but got 3",
    ),
]


def laid_out(mesh, ins=None, outs=None):
    if ins is not None:
        style = parallel.PrepareModuleInput(
            input_layouts=ins,
            desired_input_layouts=(Replicate(),) * len(ins),
            use_local_output=True,
        )
    else:
        style = parallel.PrepareModuleOutput(
            output_layouts=outs, desired_output_layouts=(Replicate(),) * len(outs)
        )
    return parallel.parallelize_module(nn.Linear(2, 2), mesh, style)


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_refused(mesh, call, kind, text):
    with pytest.raises(kind, match=text):
        call(mesh)


def test_a_root_is_one_module(mesh):
    both = [nn.Linear(2, 2), nn.Linear(2, 2)]
    fsdp.fully_shard(both)
    with pytest.raises(RuntimeError, match="FSDP requires a single root module but got"):
        both[0](torch.ones(1, 2))


def test_old_names_of_factors(mesh):
    model = fsdp.fully_shard(nn.Linear(2, 2))
    with pytest.warns(FutureWarning, match="Use `set_gradient_divide_factor` instead"):
        model.set_reduce_scatter_divide_factor(4.0)
    model(torch.ones(1, 2)).sum().backward()
    assert model.bias.grad.full_tensor().tolist() == [0.25, 0.25]


def test_parts_of_sharded_containers_are_plain(mesh):
    model = fsdp.fully_shard(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert type(model[:1]) is nn.Sequential


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (None, "No parallelize_plan is provided"),
        ({"none": None}, "'none' could not be resolved: no submodule matches it in Linear"),
    ],
)
def test_plans_that_do_nothing(mesh, plan, text):
    model = nn.Linear(2, 2)
    before = model.weight
    with pytest.warns(UserWarning, match=text):
        assert parallel.parallelize_module(model, mesh, plan) is model
    assert model.weight is before


STYLES = [
    (
        lambda: parallel.PrepareModuleInput(
            input_layouts=Shard(0), desired_input_layouts=Replicate()
        ),
        "PrepareModuleInput(input_layouts=(Shard(dim=0),), desired_input_layouts=(Replicate(),), "
        "input_kwarg_layouts={}, desired_input_kwarg_layouts={}, use_local_output=False)",
    ),
    (
        lambda: parallel.PrepareModuleOutput(
            output_layouts=Shard(0), desired_output_layouts=Replicate()
        ),
        "PrepareModuleOutput(output_layouts=(Shard(dim=0),), desired_output_layouts=(Replicate(),), "
        "use_local_output=True)",
    ),
    (
        lambda: parallel.SequenceParallel(),
        "SequenceParallel(sequence_dim=1, use_local_output=False)",
    ),
    (
        lambda: parallel.ColwiseParallel(),
        "ColwiseParallel(input_layouts=(Replicate(),), output_layouts=(Shard(dim=-1),), "
        "use_local_output=True)",
    ),
]


@pytest.mark.parametrize(("make", "text"), STYLES)
def test_texts_of_styles(make, text):
    """They name what they do, as PyTorch's."""
    assert repr(make()) == text


def test_what_inputs_become(mesh):
    """By place and by name: DTensors, parts, or what they are where nothing is said of them."""
    seen = []

    class Noting(nn.Module):
        def forward(self, a, b, *, c=None):
            seen.append((type(a).__name__, type(b).__name__, type(c).__name__))
            return a, b

    style = parallel.PrepareModuleInputOutput(
        input_layouts=(Shard(0), None),
        desired_input_layouts=(Replicate(), None),
        input_kwarg_layouts={"c": Shard(0)},
        desired_input_kwarg_layouts={"c": Replicate()},
        output_layouts=(Replicate(), None),
        desired_output_layouts=(Shard(0), None),
    )
    assert repr(style).startswith(
        "PrepareModuleInputOutput(PrepareModuleInput(input_layouts=(Shard(dim=0)"
    )
    model = parallel.parallelize_module(Noting(), mesh, style)
    a, b = model(torch.ones(2), torch.ones(3), c=torch.ones(2))
    assert seen == [("DTensor", "Tensor", "DTensor")]
    assert (type(a), a.tolist(), type(b)) == (torch.Tensor, [1.0, 1.0], torch.Tensor)
    same = parallel.PrepareModuleInput(
        input_layouts=(Shard(0), None),
        desired_input_layouts=(Shard(0), None),
        use_local_output=True,
    )
    model = parallel.parallelize_module(Noting(), mesh, same)
    model(distribute_tensor(torch.ones(2), mesh, [Shard(0)]), 3)
    assert seen[1] == ("Tensor", "int", "NoneType")
    free = parallel.PrepareModuleInput(
        input_kwarg_layouts={"c": Shard(0)}, desired_input_kwarg_layouts={"c": Replicate()}
    )
    parallel.parallelize_module(Noting(), mesh, free)(torch.ones(1), 3, c=torch.ones(1))
    assert seen[2] == ("Tensor", "int", "DTensor")


def test_what_copies_tell(mesh):
    """As Lightning asks for it."""
    model = DDP(nn.Linear(2, 2), forward_sync_buffers=False, find_unused_parameters=True)
    told = model._get_ddp_logging_data()
    assert (told["static_graph"], told["find_unused_parameters"]) == (False, True)
    assert (told["broadcast_buffers"], told["world_size"], told["rank"]) == (False, 1, 0)
    assert told["module_name"] == "Linear"
    model.broadcast_buffers = True
    assert model.forward_sync_buffers
    assert model._get_ddp_logging_data()["broadcast_buffers"]
    with pytest.warns(UserWarning, match="You passed find_unused_parameters=true"):
        model._set_static_graph()
    with pytest.warns(UserWarning, match="no need to set it again"):
        model._set_static_graph()
    assert model._get_ddp_logging_data()["static_graph"]


def test_environment_of_processes(mesh, monkeypatch, capsys):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.delenv("MASTER_PORT", raising=False)
    importlib.import_module("mindtorch_nn.parallel.distributed")._dump_DDP_relevant_env_vars()
    lines = capsys.readouterr().out.split()
    assert len(lines) == 5
    assert {"env:RANK=3", "env:MASTER_PORT=N/A"} <= set(lines)


def test_sparse_gradients_are_summed_where_dense_ones_are(mesh):
    """A parameter of a dense bucket whose gradient is sparse in a step."""

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3, 2))

        def forward(self, at):
            return torch.nn.functional.embedding(at, self.weight, sparse=True)

    model = DDP(Table())
    model(torch.tensor([0, 2])).sum().backward()
    grad = model.module.weight.grad
    grad = grad.to_dense() if grad.is_sparse else grad
    assert grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def test_gradients_that_are_asked_for_leave_parameters(mesh):
    """`autograd.grad` puts nothing into parameters, so that nobody waits for theirs."""
    model = DDP(nn.Linear(2, 2), find_unused_parameters=True)
    x = torch.ones(1, 2, requires_grad=True)
    (found,) = torch.autograd.grad(model(x).sum(), x)
    assert found.tolist() == [model.module.weight.sum(0).tolist()]
    assert model.module.weight.grad is None
    model(x).sum().backward()
    assert model.module.bias.grad.tolist() == [1.0, 1.0]


def test_composable_copies(mesh):
    replicate = torch.distributed._composable.replicate
    model = replicate(nn.Linear(2, 2))
    seen = []

    def hook(state, bucket):
        seen.append((state, bucket.buffer().numel()))
        future = torch.futures.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    model.register_comm_hook("state", hook)
    model(torch.ones(1, 2)).sum().backward()
    assert seen == [("state", 6)]
    assert model.bias.grad.tolist() == [2.0, 2.0]
    with pytest.raises(AssertionError, match="DDP does not support deepcopy"):
        copy.deepcopy(model)


def wrapped(**named):
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    return fsdp.FullyShardedDataParallel(model, **named)


def test_what_a_sharded_wrapper_is(mesh):
    model = wrapped()
    assert model._has_params
    assert model.check_is_root()
    assert isinstance(model[0], nn.Linear)
    assert model[2].in_features == 2
    seen = []
    assert model.apply(lambda m: seen.append(type(m).__name__)) is model
    assert seen.count("Linear") == 2
    assert model.clip_grad_norm_(1.0).item() == 0.0
    with pytest.raises(AttributeError, match="none"):
        model.none
    model.apply(lambda m: nn.init.zeros_(m.weight) if isinstance(m, nn.Linear) else None)
    after = [p.full_tensor() if isinstance(p, DTensor) else p for p in model.parameters()]
    assert [bool(t.any()) for t in after if t.ndim == 2] == [False, False]
    assert len(after) == 4


POLICY = fsdp.wrap


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        (POLICY.always_wrap_policy, ["", "0", "1", "2"]),
        (POLICY.ModuleWrapPolicy({nn.Linear}), ["", "0", "2"]),
        (POLICY.CustomPolicy(lambda m: isinstance(m, nn.ReLU)), ["", "1"]),
    ],
)
def test_policies_of_wrapping(mesh, policy, names):
    model = wrapped(auto_wrap_policy=policy)
    inner = {id(m.module): n for n, m in model.named_modules() if hasattr(m, "_own_buffers")}
    assert len(inner) == len(names)


def test_texts_and_refusals_of_policies():
    assert repr(POLICY.ModuleWrapPolicy({nn.Linear})).endswith(
        "({<class 'mindtorch_nn.modules.linear.Linear'>})"
    )
    policy = POLICY.CustomPolicy(lambda m: 3)
    with pytest.raises(
        ValueError, match="should return False/True or a kwarg dict, but it returned 3"
    ):
        policy.options(nn.Linear(2, 2))
    kinds = [lambda **_: False, lambda **_: True]
    asked = {"module": nn.Linear(2, 2), "recurse": False, "nonwrapped_numel": 6}
    assert POLICY._or_policy(**asked, policies=kinds) is True
    assert POLICY._or_policy(**asked, policies=kinds[:1]) is False


def test_wrapping_by_hand(mesh):
    model = nn.Linear(2, 2)
    assert POLICY.wrap(model) is model
    with POLICY.enable_wrap(wrapper_cls=nn.Sequential):
        assert type(POLICY.wrap(model)) is nn.Sequential
    assert POLICY.wrap(model) is model


def test_states_of_optimizers(mesh):
    """Whole and in parts, and back."""
    F = fsdp.FullyShardedDataParallel
    model = wrapped(use_orig_params=True)
    optim = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    model(torch.ones(1, 2)).sum().backward()
    optim.step()
    full = F.full_optim_state_dict(model, optim)
    cut = F.sharded_optim_state_dict(model, optim)
    names = ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert sorted(full["state"]) == sorted(cut["state"]) == names
    for name in names:
        whole, part = (s["state"][name]["momentum_buffer"] for s in (full, cut))
        assert not isinstance(whole, DTensor)
        assert isinstance(part, DTensor)
        assert whole.tolist() == part.full_tensor().tolist()
    for taken in (
        F.shard_full_optim_state_dict(full, model, optim=optim),
        F.scatter_full_optim_state_dict(full, model, optim=optim),
        F.optim_state_dict_to_load(model, optim, cut),
    ):
        other = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        other.load_state_dict(taken)
        held = [other.state[p]["momentum_buffer"] for p in model.parameters()]
        kept = [optim.state[p]["momentum_buffer"] for p in model.parameters()]
        assert [t.full_tensor().tolist() for t in held] == [t.full_tensor().tolist() for t in kept]


def test_kinds_of_states(mesh):
    F = fsdp.FullyShardedDataParallel
    model = wrapped()
    with pytest.raises(
        NotImplementedError, match="LOCAL_STATE_DICT is memory of several parameters"
    ):
        F.set_state_dict_type(model, fsdp.StateDictType.LOCAL_STATE_DICT)
    with pytest.raises(RuntimeError, match="Expected state_dict_config of type"):
        F.set_state_dict_type(
            model, fsdp.StateDictType.FULL_STATE_DICT, fsdp.ShardedStateDictConfig()
        )
    bad = {k: v[:1] for k, v in model.state_dict().items()}
    with pytest.raises(RuntimeError, match="size mismatch for"):
        model.load_state_dict(bad)


def test_limits_of_waiting(mesh):
    model = DDP(nn.Linear(2, 2), process_group=dist.new_group([0], timeout=timedelta(seconds=9)))
    model(torch.ones(1, 2)).sum().backward()
    assert model.module.bias.grad.tolist() == [1.0, 1.0]


def test_modules_below_need_no_import(printed):
    program = (
        "from mindtorch_core import distributed as dist; "
        "t = dist.tensor; print(t.device_mesh.__name__, t.parallel.__name__, t.placement_types.__name__); "
        "print(dist.fsdp.wrap.__name__)"
    )
    found = [each.rpartition(".")[2] for each in printed("-c", program).split()]
    assert found == ["device_mesh", "parallel", "placement_types", "wrap"]
