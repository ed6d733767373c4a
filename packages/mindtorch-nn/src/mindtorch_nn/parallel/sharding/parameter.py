"""One parameter in parts: how it is cut, sent, put together, and where modules see it."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.autograd.recalled import call_hooks_of_gradient

from ...parameter import Parameter

__all__ = ["ShardedParameter"]


class ShardedParameter:
    """A parameter of which this process keeps a part.

    Args:
        whole: the parameter as it was.
        places: the modules that have it, with the names under which they do.
        mesh: the ranks; of two dimensions, the parts lie along the second.
        dim: the dimension along which it is cut.
        device: where it is computed with.
        offloaded: whether its part lies in host memory.

    Attributes:
        part: the parameter that modules have outside forward and backward, a DTensor.
        step: how long parts are along the dimension, but for the last ones.
        spec: how the parameter lies in the processes that compute it in parts; None for a plain one.
        shape: of the parameter, or of what this process computes with.

    Raises:
        NotImplementedError: for parts of different sizes along another dimension than the first.
    """

    def __init__(
        self,
        whole: Tensor,
        places: list[tuple[Any, str]],
        mesh: Any,
        dim: int,
        device: torch.device,
        *,
        offloaded: bool,
    ) -> None:
        tensors = torch.distributed.tensor
        self.places = places
        self.dim = dim
        self.device = device
        self.pieces: int = mesh.size(mesh.ndim - 1)
        rank = mesh.get_local_rank(mesh.ndim - 1)
        self.spec: Any = getattr(whole, "_spec", None)
        plain = whole.detach() if self.spec is None else whole._local_tensor  # type: ignore[attr-defined]
        self.shape = tuple(plain.shape)
        size = self.shape[dim]
        if dim and size % self.pieces:
            raise NotImplementedError(
                f"FSDP does not support uneven sharding on dim {dim}: {torch.Size(self.shape)} (world "
                f"size: {self.pieces})"
            )
        self.step = -(-size // self.pieces)
        placements: list[Any] = [tensors.Replicate()] * (mesh.ndim - 1) + [tensors.Shard(dim)]
        if self.spec is not None:
            mesh, placements = self._with_its_own(mesh, placements)
        start = min(self.step * rank, size)
        local = plain.narrow(dim, start, min(self.step, size - start)).clone()
        if local.device.type != "meta":
            local = local.to("cpu" if offloaded else device)
        made = tensors.DTensor.from_local(
            local.contiguous(),
            mesh,
            placements,
            shape=tuple(whole.shape),
            stride=whole.contiguous().stride(),
        )
        self.part: Any = Parameter(made, requires_grad=whole.requires_grad)

    def _with_its_own(self, mesh: Any, placements: list[Any]) -> tuple[Any, list[Any]]:
        """The mesh of the parts of what is a DTensor already, and the placements there."""
        own = self.spec.placements
        cuts = [self.spec.mesh.size(i) for i, p in enumerate(own) if p.is_shard(self.dim)]
        if cuts:
            tensors: Any = torch.distributed.tensor
            placements[-1] = tensors.placement_types._StridedShard(
                self.dim, split_factor=math.prod(cuts)
            )
        try:
            joined = mesh._concatenate([mesh, self.spec.mesh])
        except RuntimeError as error:
            module, name = self.places[0]
            raise RuntimeError(
                f"{type(module).__name__}.{name} is a DTensor on {self.spec.mesh}, and cannot be cut along "
                f"{mesh} too: give fully_shard another dimension of the mesh that it is on. {error}"
            ) from None
        return joined, [*placements, *own]

    def computed(self, whole: Tensor) -> Any:
        """What modules have in forward, of what was put together: a DTensor where the parameter was one."""
        if self.spec is None:
            whole.__class__ = Parameter  # modules ask for no less
            return whole
        meta = self.spec.tensor_meta
        made: Any = torch.distributed.tensor.DTensor.from_local(
            whole, self.spec.mesh, self.spec.placements, shape=meta.shape, stride=meta.stride
        )
        made._is_param = True
        return made.requires_grad_(whole.requires_grad) if made.is_leaf else made

    @property
    def local(self) -> Tensor:
        """This process's part as a plain tensor."""
        found: Tensor = self.part._local_tensor
        return found

    @property
    def dtype(self) -> torch.dtype:
        """Of the part."""
        found: torch.dtype = self.part.dtype
        return found

    def take_over(self) -> None:
        """Take the DTensor that somebody has put into the module, as loading with ``assign`` does."""
        module, name = self.places[0]
        there = module._parameters[name]
        if there is not self.part and isinstance(there, torch.distributed.tensor.DTensor):
            self.part = there
            self.show(there)

    def show(self, parameter: Any) -> None:
        """Let the modules have something as their parameter."""
        for module, name in self.places:
            module._parameters[name] = parameter

    # ---- as rows that are sent --------------------------------------------------------------------

    @property
    def rest(self) -> tuple[int, ...]:
        """The shape without the dimension that is cut."""
        return self.shape[: self.dim] + self.shape[self.dim + 1 :]

    def rows(self, dtype: torch.dtype) -> Tensor:
        """This process's part as it is sent: one row, filled up to the size of the first part.

        Raises:
            RuntimeError: while the part has no values.
        """
        local = self.local
        if local.device.type == "meta":
            module, name = self.places[0]
            raise RuntimeError(
                f"FSDP parameters should be materialized from meta device before training, but "
                f"{type(module).__name__}.{name} is on meta device. Call module.to_empty(device) and "
                f"give it values."
            )
        local = local.to(device=self.device, dtype=dtype)
        return self._filled(local.movedim(self.dim, 0), self.step).reshape(-1)

    def _filled(self, rows: Tensor, size: int) -> Tensor:
        missing = size - rows.shape[0]
        if not missing:
            return rows
        return torch.cat([rows, rows.new_zeros((missing, *self.rest))])

    def whole(self, rows: Tensor) -> Tensor:
        """The parameter of all parts.

        Args:
            rows: ``[pieces, numel]``, a row of each process.
        """
        found = rows.reshape((self.pieces * self.step, *self.rest))
        found = found.narrow(0, 0, self.shape[self.dim])
        return found.movedim(0, self.dim).contiguous()

    def gradient_rows(self, grad: Tensor | None, dtype: torch.dtype) -> Tensor:
        """A gradient of the whole as it is sent: ``[pieces, numel]``; zeros for none."""
        if grad is None:
            zeros = (self.pieces, self.numel)
            return torch.zeros(zeros, dtype=dtype, device=self.device)
        rows = grad.to(dtype).movedim(self.dim, 0)
        return self._filled(rows, self.pieces * self.step).reshape(self.pieces, -1)

    @property
    def numel(self) -> int:
        """How many elements a row has."""
        count: int = self.step * math.prod(self.rest)
        return count

    def give_gradient(self, row: Tensor) -> None:
        """Add this process's part of the summed gradient to what the part has."""
        local = self.local
        grad = row.reshape((self.step, *self.rest)).narrow(0, 0, local.shape[self.dim])
        grad = grad.movedim(0, self.dim).to(device=local.device, dtype=local.dtype)
        with torch.no_grad():
            if self.part.grad is None:
                spec = self.part._spec
                kind: Any = torch.distributed.tensor.DTensor
                self.part.grad = kind(grad.contiguous().clone(), spec, requires_grad=False)
            else:
                self.part.grad._local_tensor.add_(grad)
        call_hooks_of_gradient(self.part)
