"""How the parameters of a module are cut, and how its input and output lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mindtorch_core import Tensor
from mindtorch_core.distributed.tensor import (
    DeviceMesh,
    DTensor,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
)

from ...modules.linear import Linear
from ...modules.module import Module
from ...modules.sparse import Embedding
from ...parameter import Parameter

__all__ = ["ColwiseParallel", "ParallelStyle", "RowwiseParallel", "SequenceParallel", "laid"]


def laid(
    t: Tensor,
    mesh: DeviceMesh,
    now: Sequence[Placement],
    wanted: Sequence[Placement],
    *,
    local: bool,
) -> Tensor:
    """A tensor with other placements.

    Args:
        t: a DTensor, or this rank's part of one.
        mesh: the ranks.
        now: how it lies, if it is a part.
        wanted: how it is to lie.
        local: whether this rank's part is wanted.
    """
    whole = t if isinstance(t, DTensor) else DTensor.from_local(t, mesh, now, run_check=False)
    if whole.placements != tuple(wanted):
        whole = whole.redistribute(placements=wanted)
    return whole.to_local() if local else whole


class ParallelStyle(ABC):
    """How a module is computed in several processes.

    Attributes:
        src_data_rank: the rank whose parameters count, see `distribute_tensor`.
    """

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        """Change a module so."""


class _Cut(ParallelStyle):
    """Parameters that are cut along a dimension."""

    # By the class of a module: how its parameters lie, and how its input has to.
    _ways: ClassVar[Mapping[type[Module], tuple[Mapping[str, Placement], Placement]]]

    def __init__(
        self, input_layouts: Placement, output_layouts: Placement, use_local_output: bool
    ) -> None:
        self.input_layouts = (input_layouts,)
        self.output_layouts = (output_layouts,)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        ways = [way for kind, way in self._ways.items() if isinstance(module, kind)]
        if not ways:
            raise NotImplementedError(
                f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!"
            )
        placements, wanted = ways[0]

        def partition(_: str, own: Module, mesh: DeviceMesh) -> None:
            for name, p in list(own.named_parameters(recurse=False)):
                part = distribute_tensor(
                    p.detach(), mesh, [placements[name]], src_data_rank=self.src_data_rank
                )
                own.register_parameter(name, Parameter(part, requires_grad=p.requires_grad))

        def enter(_: Module, inputs: Any, mesh: DeviceMesh) -> Any:
            return laid(inputs[0], mesh, self.input_layouts, (wanted,), local=False)

        def leave(_: Module, output: Any, mesh: DeviceMesh) -> Any:
            way = self.output_layouts
            return laid(output, mesh, way, way, local=self.use_local_output)

        return distribute_module(module, device_mesh, partition, enter, leave)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(input_layouts={self.input_layouts}, "
            f"output_layouts={self.output_layouts}, use_local_output={self.use_local_output})"
        )


class ColwiseParallel(_Cut):
    """Each rank computes some of the features that a Linear or an Embedding gives.

    Args:
        input_layouts: how the input lies; replicated by default.
        output_layouts: how the output is to lie; by default cut along its last dimension.
        use_local_output: whether the output is this rank's part, or a DTensor.
    """

    _ways: ClassVar = {
        Linear: ({"weight": Shard(0), "bias": Shard(0)}, Replicate()),
        Embedding: ({"weight": Shard(1)}, Replicate()),
    }

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            input_layouts or Replicate(), output_layouts or Shard(-1), use_local_output
        )


class RowwiseParallel(_Cut):
    """Each rank computes with some of the features that a Linear takes, or rows that an Embedding has.

    Args:
        input_layouts: how the input lies; by default cut along its last dimension.
        output_layouts: how the output is to lie; replicated by default.
        use_local_output: whether the output is this rank's part, or a DTensor.
    """

    _ways: ClassVar = {
        Linear: ({"weight": Shard(1), "bias": Replicate()}, Shard(-1)),
        Embedding: ({"weight": Shard(0)}, Replicate()),
    }

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            input_layouts or Shard(-1), output_layouts or Replicate(), use_local_output
        )


class SequenceParallel(ParallelStyle):
    """Each rank computes some positions of sequences: for norms and dropout.

    Args:
        sequence_dim: along which positions lie.
        use_local_output: whether the output is this rank's part, or a DTensor.
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        way = self.sequence_sharding

        def partition(_: str, own: Module, mesh: DeviceMesh) -> None:
            for name, p in list(own.named_parameters(recurse=False)):
                same = DTensor.from_local(p.detach(), mesh, [Replicate()], run_check=False)
                own.register_parameter(name, Parameter(same, requires_grad=p.requires_grad))

        def enter(own: Module, inputs: Any, mesh: DeviceMesh) -> Any:
            if not isinstance(inputs[0], Tensor):
                raise ValueError(
                    f"expecting input of {own} to be a torch.Tensor or DTensor, but got {inputs[0]}"
                )
            return laid(inputs[0], mesh, way, way, local=False)

        def leave(_: Module, output: Any, mesh: DeviceMesh) -> Any:
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, partition, enter, leave)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"SequenceParallel(sequence_dim={self.sequence_sharding[0].dim}, "
            f"use_local_output={self.use_local_output})"
        )
