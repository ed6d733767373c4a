"""States of models and optimizers, and modules of DTensors, in a group of one process: as in PyTorch."""

import importlib
import warnings
from types import SimpleNamespace

import pytest

import mindtorch_core as ours

pytestmark = [  # PyTorch's own
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`_get_pg_default_device`:UserWarning"),
    pytest.mark.filterwarnings("ignore:Multiple backends are registered:UserWarning"),
]


@pytest.fixture(params=["ours", "theirs"])
def torch(request):
    """Ours or PyTorch, with a group of this process alone."""
    if request.param == "ours":
        found, name = ours, "mindtorch_core"
    else:
        found, name = pytest.importorskip("torch"), "torch"

    def module(path):
        return importlib.import_module(f"{name}.distributed.{path}")

    dist = found.distributed
    dist.init_process_group(
        "fake" if found is ours else "gloo", store=dist.HashStore(), rank=0, world_size=1
    )
    yield SimpleNamespace(of=found, module=module, dist=dist, nn=found.nn)
    dist.destroy_process_group()


def trained(torch, make):
    torch.of.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = make(model.parameters())
    model(torch.of.ones(4, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


def test_the_state_of_an_optimizer_that_has_none_is_told_after_a_step(torch):
    states = torch.module("checkpoint.state_dict")
    model, optimizer = trained(torch, lambda p: torch.of.optim.SGD(p, lr=0.5))
    assert all(p.grad is not None for p in model.parameters())
    found = states.get_optimizer_state_dict(model, optimizer)
    assert found["state"] == {}
    assert found["param_groups"][0]["params"] == ["weight", "bias"]
    found["param_groups"][0]["lr"] = 0.25
    states.set_optimizer_state_dict(model, optimizer, found)
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert all(p.grad is not None for p in model.parameters())


def test_the_state_of_submodules_is_deprecated(torch):
    states = torch.module("checkpoint.state_dict")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with pytest.warns(
        FutureWarning, match="Getting submodules only model/optim state_dict is deprecated"
    ):
        found = states.get_model_state_dict(model, submodules={model[0]})
    assert sorted(found) == ["0.bias", "0.weight"]


def test_whole_values_are_given_to_a_model_without_memory(torch):
    states = torch.module("checkpoint.state_dict")
    with torch.of.device("meta"):
        model = torch.nn.Linear(3, 2)
    full = torch.nn.Linear(3, 2).state_dict()
    options = states.StateDictOptions(full_state_dict=True, strict=False)
    states.set_model_state_dict(model, full, options=options)
    for name, value in model.state_dict().items():
        assert value.device.type == "cpu"
        assert value.tolist() == full[name].tolist()
    assert isinstance(model.weight, torch.nn.Parameter)


def test_functions_of_a_distributed_module_may_lack_the_module(torch):
    tensors = torch.module("tensor")
    mesh = tensors.init_device_mesh("cpu", (1,))

    def given(inputs, mesh):
        return tensors.DTensor.from_local(inputs[0], mesh, [tensors.Replicate()])

    def taken(output, mesh):
        return output.to_local()

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = tensors.distribute_module(
            torch.nn.Linear(2, 2), mesh, input_fn=given, output_fn=taken
        )
    texts = [str(each.message) for each in said if each.category is FutureWarning]
    assert [text.partition(" that")[0] for text in texts] == [
        "Deprecating input_fn",
        "Deprecating output_fn",
    ]
    assert type(model(torch.of.ones(1, 2))) is torch.of.Tensor
    with pytest.raises(ValueError, match="input_fn should take in 3 arguments, but got 1"):
        tensors.distribute_module(torch.nn.Linear(2, 2), mesh, input_fn=lambda inputs: inputs)


def test_what_is_no_leaf_is_refused_first(torch):
    tensors = torch.module("tensor")
    mesh = tensors.init_device_mesh("cpu", (1,))
    with pytest.raises(RuntimeError, match="distribute leaf tensor"):
        tensors.distribute_tensor(
            torch.of.ones(2, requires_grad=True) * 2, mesh, [tensors.Shard(0)] * 2
        )


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tensor.parallel.style", "ColwiseParallel"),
        ("tensor.parallel.api", "parallelize_module"),
        ("tensor.parallel.loss", "loss_parallel"),
        ("tensor._api", "distribute_tensor"),
        ("optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
    ],
)
# PyTorch's own
def test_names_are_found_at_pytorchs_paths(torch, path, name):
    assert callable(getattr(torch.module(path), name))


def test_meshes_and_objects_are_none_of_the_default_devices(torch):
    with torch.of.device("meta"):
        mesh = torch.module("device_mesh").init_device_mesh("cpu", (1,))
        objects = [{"a": 1}]
        torch.dist.broadcast_object_list(objects, src=0)
        gathered = [None]
        torch.dist.all_gather_object(gathered, 7)
    assert mesh.mesh.tolist() == [0]
    assert (objects, gathered) == ([{"a": 1}], [7])
