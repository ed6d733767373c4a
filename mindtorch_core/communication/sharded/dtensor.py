"""`DTensor`: a tensor of which each process of a mesh holds a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from ...autograd.function import Function
from ...dispatch.overrides import DISABLED
from ...gradients.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ...values.shapes import contiguous_strides
from ..collectives import broadcast
from ..mesh import DeviceMesh
from ..mesh_setup import CURRENT
from .layouts import DTensorSpec, TensorMeta, checked, laid_out, part_of
from .placements import Partial, Placement, Replicate, Shard

__all__ = ["ANSWER", "DTensor", "default_mesh", "rebuilt"]

ANSWER: Final[list[Callable[..., Any]]] = []  # what `rules` makes of an op and its arguments


def default_mesh(mesh: DeviceMesh | None) -> DeviceMesh:
    """A mesh, or that of the block around the call for None.

    Raises:
        RuntimeError: if there is neither.
    """
    return CURRENT.get_current_mesh() if mesh is None else mesh


class DTensor(Tensor):
    """A tensor of which each process of a mesh holds a part.

    It has the shape of the whole. Ops that optimizers, norms and clipping use work on the parts; others
    are refused: compute with `to_local` or `full_tensor`. Made by `from_local` and `distribute_tensor`.

    Args:
        local_tensor: this rank's part.
        spec: how the tensor lies on the mesh.
        requires_grad: whether ops on it are recorded.
    """

    _local_tensor: Tensor
    _spec: DTensorSpec

    def __new__(cls, local_tensor: Tensor, spec: DTensorSpec, *, requires_grad: bool) -> Any:  # noqa: D102
        meta = spec.tensor_meta
        made = cls._make_wrapper_subclass(
            cls,
            meta.shape,
            strides=meta.stride,
            dtype=local_tensor.dtype,
            device=local_tensor.device,
            requires_grad=requires_grad,
        )
        made._local_tensor = local_tensor.detach()
        made._spec = spec
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do; the base class would make the tensor anew."""

    # ---- where it lies ---------------------------------------------------------------------------

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks that have parts of it."""
        return self._spec.mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How it lies along each dimension of the mesh."""
        return self._spec.placements

    # ---- from and to plain tensors ---------------------------------------------------------------

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: tuple[int, ...] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """The tensor of which this rank has a part.

        Args:
            local_tensor: the part.
            device_mesh: the ranks.
            placements: one for each dimension of the mesh; all replicated by default.
            run_check: whether what is replicated is overwritten by that of the first rank.
            shape: of the whole; by default that of parts that are all of one size.
            stride: of the whole; given with ``shape``. By default as the parts lie.
            grad_placements: of the gradient that backward takes apart.

        Raises:
            ValueError: for parts that do not fit.
            RuntimeError: for a part that is a DTensor itself.
        """
        if isinstance(local_tensor, DTensor):
            raise RuntimeError(
                f"the local_tensor argument only accepts torch.Tensor but got {type(local_tensor)} value."
            )
        mesh = default_mesh(device_mesh)
        placed = checked(placements, mesh, local_tensor.ndim)
        whole, steps = list(local_tensor.shape), list(local_tensor.stride())
        if shape is None:
            for i, each in enumerate(placed):
                if isinstance(each, Shard):
                    whole[each.dim] *= mesh.size(i)
                    for d, step in enumerate(steps):
                        if d != each.dim and step >= steps[each.dim]:
                            steps[d] *= mesh.size(i)
        else:
            whole = list(shape)
            steps = list(contiguous_strides(tuple(whole)) if stride is None else stride)
            part = part_of(whole, mesh, placed)[0]
            if mesh.get_coordinate() is not None and part != tuple(local_tensor.shape):
                raise ValueError(
                    f"this rank's part of a tensor of shape {whole} has the shape {list(part)}, not "
                    f"{list(local_tensor.shape)}"
                )
        if mesh.get_coordinate() is None:
            local_tensor = local_tensor.new_empty(0)
        elif run_check:
            for i, each in enumerate(placed):
                if isinstance(each, Replicate):
                    broadcast(local_tensor.detach(), group=mesh.get_group(i), group_src=0)
        meta = TensorMeta(tuple(whole), tuple(steps), local_tensor.dtype)
        made: DTensor = _FromLocal.apply(
            local_tensor, DTensorSpec(mesh, placed, meta), grad_placements
        )
        return made

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This rank's part, which shares memory.

        Args:
            grad_placements: how the part's gradient lies; as the tensor by default.
        """
        if not self.requires_grad:
            return self._local_tensor
        found: Tensor = _ToLocal.apply(self, grad_placements)
        return found

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> DTensor:
        """The same tensor with other placements. All ranks of the mesh call it together.

        Args:
            device_mesh: the tensor's own.
            placements: those wanted.
            async_op: accepted; it is done when it returns.
            forward_dtype: of the result; the tensor's by default.
            backward_dtype: refused.

        Raises:
            NotImplementedError: for another mesh, or a dtype of backward.
            RuntimeError: without placements, or to a partial one.
        """
        if device_mesh is not None and device_mesh != self.device_mesh:
            raise NotImplementedError("a DTensor is not moved to another mesh: use full_tensor()")
        if backward_dtype is not None:
            raise NotImplementedError("redistribute has no backward_dtype: cast the gradient")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        wanted = checked(placements, self.device_mesh, self.ndim)
        for own, each in zip(self.placements, wanted, strict=True):
            if isinstance(each, Partial) and each != own:
                raise RuntimeError(
                    f"Can not redistribute from {own} to {each}, redistributing to Partial is for internal "
                    f"use only!"
                )
        source: Any = self if forward_dtype is None else self.to(forward_dtype)
        made: DTensor = _Placed.apply(source, wanted)
        return made

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor, on every rank. All ranks of the mesh call it together.

        Args:
            grad_placements: how the result's gradient lies; replicated by default.
        """
        whole = self.redistribute(placements=[Replicate()] * self.device_mesh.ndim)
        return whole.to_local(grad_placements=grad_placements)

    def _whole(self) -> Tensor:
        with no_grad():
            found: Tensor = self.detach().full_tensor()  # type: ignore[attr-defined]
            return found

    # ---- as a value ------------------------------------------------------------------------------

    def item(self) -> Any:
        """The value of a tensor of one element; all ranks of the mesh ask together."""
        return self._whole().item()

    def __bool__(self) -> bool:
        return bool(self._whole())

    def __float__(self) -> float:
        return float(self._whole())

    def __int__(self) -> int:
        return int(self._whole())

    __index__ = __int__

    def _no_values(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(
            "a DTensor has its values in several processes: ask its to_local() or its full_tensor()"
        )

    numpy = tolist = __array__ = __dlpack__ = _no_values

    def data_ptr(self) -> int:
        """Where this rank's part lies."""
        return self._local_tensor.data_ptr()

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        return (
            f"DTensor(local_tensor={self._local_tensor!r}, device_mesh={self.device_mesh}, "
            f"placements={self.placements})"
        )

    def __format__(self, spec: str) -> str:
        return format(self._whole(), spec) if self.ndim == 0 else repr(self)

    # ---- as an object ----------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The same without history; assigned, it takes over another DTensor's part."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, DTensor):
            raise TypeError(
                f"the data of a DTensor is a DTensor, got {type(value).__name__}: use distribute_tensor"
            )
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]
        self._local_tensor, self._spec = value._local_tensor, value._spec

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user support the deepcopy protocol: detach it first"
            )
        made = memo.get(id(self))
        if made is None:
            local = self._local_tensor.detach().clone()
            made = DTensor(local, self._spec, requires_grad=self.requires_grad)
            made.__dict__.update(
                {k: v for k, v in self.__dict__.items() if k not in ("_local_tensor", "_spec")}
            )
            memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """In a file: this rank's part, and how the whole lies on the mesh."""
        kept = {k: v for k, v in self.__dict__.items() if k not in ("_local_tensor", "_spec")}
        arguments = (
            self._local_tensor,
            self.device_mesh,
            self.placements,
            tuple(self.shape),
            self.stride(),
        )
        return rebuilt, (*arguments, self.requires_grad, kept)

    def __create_chunk_list__(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Where this rank's part begins, and its shape; empty where it has none."""
        sizes, starts = part_of(self._spec.shape, self.device_mesh, self.placements)
        return [] if 0 in sizes else [(starts, sizes)]

    __torch_function__ = DISABLED

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Ops on such tensors, by `rules`."""
        return ANSWER[0](func, args, kwargs or {})


def rebuilt(
    local: Tensor,
    mesh: DeviceMesh,
    placements: tuple[Placement, ...],
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    more: dict[str, Any],
) -> DTensor:
    """A DTensor of a file, in which its rank's part is."""
    spec = DTensorSpec(mesh, placements, TensorMeta(shape, stride, local.dtype))
    made: DTensor = DTensor(local, spec, requires_grad=requires_grad)
    made.__dict__.update(more)
    return made


class _FromLocal(Function):
    @staticmethod
    def forward(ctx: Any, local: Tensor, spec: DTensorSpec, placements: Any) -> Any:
        ctx.placements = spec.placements if placements is None else placements
        return DTensor(local.view_as(local), spec, requires_grad=False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _part_of_gradient(grads[0], ctx.placements), None, None


class _ToLocal(Function):
    @staticmethod
    def forward(ctx: Any, whole: Any, placements: Any) -> Any:
        ctx.spec, ctx.placements = whole._spec, placements
        return whole._local_tensor.view_as(whole._local_tensor)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        spec = ctx.spec
        if ctx.placements is not None:
            spec = spec.placed(checked(ctx.placements, spec.mesh, len(spec.shape)))
        return DTensor(grads[0], spec.like(spec.shape, grads[0].dtype), requires_grad=False), None


class _Placed(Function):
    @staticmethod
    def forward(ctx: Any, source: Any, placements: Any) -> Any:
        ctx.placements = source.placements
        local = laid_out(source._local_tensor, source._spec, placements)
        return DTensor(local, source._spec.placed(placements), requires_grad=False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        # Of a partial value the gradient is that of the whole, on each rank.
        wanted = [Replicate() if isinstance(p, Partial) else p for p in ctx.placements]
        grad: Any = grads[0]
        local = laid_out(grad._local_tensor, grad._spec, wanted)
        return DTensor(local, grad._spec.placed(wanted), requires_grad=False), None


def _part_of_gradient(grad: Any, placements: Sequence[Placement]) -> Tensor:
    wanted = [Replicate() if isinstance(p, Partial) else p for p in placements]
    return laid_out(grad._local_tensor, grad._spec, wanted)
