"""A module's state as a dict: taking it, and loading it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import warn_user

from ..parameter import Parameter, is_lazy
from .base import ModuleBase, Undo, ends, undoing

__all__ = ["EXTRA_STATE", "StateDict", "_IncompatibleKeys"]

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(
    NamedTuple("IncompatibleKeys", [("missing_keys", list[str]), ("unexpected_keys", list[str])])
):
    """Which keys a module has and a state dict has not, and the other way round."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict(ModuleBase):
    """The part of `Module` that gives and takes its state."""

    def get_extra_state(self) -> Any:
        """What belongs into ``state_dict`` beside parameters and buffers; subclasses define it.

        Raises:
            RuntimeError: if they do not.
        """
        raise RuntimeError(f"{self._get_name()} has no extra state: define get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` gave; subclasses define it.

        Raises:
            RuntimeError: if they do not.
        """
        raise RuntimeError(f"{self._get_name()} has no extra state: define set_extra_state()")

    # ---- giving --------------------------------------------------------------------------------

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own state into a dict."""
        for name, value in _own_state(self):
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    @ends
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters, persistent buffers and extra states of this module and all below it, by path.

        The values share memory with the module.

        Args:
            *args: the following, by position; deprecated.
            destination: a dict to fill; a new one by default.
            prefix: of all keys.
            keep_vars: whether values keep their place in the graph.

        Example:
            >>> torch.nn.Linear(2, 1).state_dict().keys()
            odict_keys(['weight', 'bias'])
        """
        if args:
            warn_user(
                "Positional args are being deprecated, use kwargs instead: state_dict(destination=..., "
                "prefix=..., keep_vars=...)",
                FutureWarning,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}{name}."
                module.state_dict(destination=destination, prefix=path, keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            found = hook(self, destination, prefix, metadata)
            if found is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = found
        return destination

    # ---- taking --------------------------------------------------------------------------------

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own state, and say what does not fit.

        Within `load_state_dict` values are copied when all modules have said it.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        own = dict(_own_state(self))
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                problem = _load_one(self, name, key, value, state_dict[key], assign, error_msgs)
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                _do(partial(_set_extra_state, self, state_dict[extra]))
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, below, _ = key[len(prefix) :].partition(".")
                    if name not in (self._modules if below else own):
                        unexpected_keys.append(key)

    @ends
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values into parameters and buffers.

        If anything does not fit, nothing is changed.

        Args:
            state_dict: values by path, as `state_dict` gives them.
            strict: whether the keys must be those of the module.
            assign: put the values themselves into the module instead of copying them.

        Returns:
            The keys that are missing, and those nobody asked for.

        Raises:
            RuntimeError: if shapes do not fit, or keys in strict mode.
            TypeError: if ``state_dict`` is no mapping.

        Example:
            >>> model = torch.nn.Linear(2, 1)
            >>> model.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.zeros(1)})
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys, errors = _IncompatibleKeys([], []), list[str]()
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        outer = _thread.load
        try:
            with undoing() as undo:
                load = _thread.load = _Load(undo)
                _collect(self, state, "", metadata, assign, keys, errors)
                hooked = list(_with_post_hooks(self))
                if not errors and not hooked and strict:
                    errors = _key_errors(keys)
                if not errors:
                    load.cautious = bool(hooked)
                    for write in load.writes:
                        problem = write(load)
                        if problem:
                            errors.append(problem)
                            break
                if not errors:
                    _call_post_hooks(hooked, keys)
                    errors = _key_errors(keys) if strict else []
                elif strict and errors != (wrong := _key_errors(keys)):
                    errors = wrong + errors
                if errors:
                    listed = "\n\t".join(errors)
                    raise RuntimeError(
                        f"Error(s) in loading state_dict for {self._get_name()}:\n\t{listed}"
                    )
        finally:
            _thread.load = outer
        return keys


# ---- one load -----------------------------------------------------------------------------------


class _Load:
    """What a load will do once everything fits.

    Attributes:
        writes: in order; each returns what went wrong.
        undo: takes back what was written.
        cautious: keep what is overwritten, since something may fail afterwards.
    """

    def __init__(self, undo: Undo) -> None:
        self.writes: list[Callable[[_Load], str]] = []
        self.undo = undo
        self.cautious = False


class _Thread(threading.local):
    load: _Load | None = None


_thread = _Thread()


def _do(write: Callable[[_Load], str]) -> str:
    """Do something when the present load has been checked, or now if there is none."""
    if _thread.load is None:
        return write(_Load(Undo()))
    _thread.load.writes.append(write)
    return ""


def _own_state(module: Any) -> Iterator[tuple[str, Any]]:
    """Parameters and persistent buffers that are not None."""
    for name, value in [*module._parameters.items(), *module._buffers.items()]:
        if value is not None and name not in module._non_persistent_buffers_set:
            yield name, value


def _load_one(
    module: Any, name: str, key: str, own: Any, new: Any, assign: bool, error_msgs: list[str]
) -> str:
    """Load one value; returns what is wrong with it."""
    if not isinstance(new, torch.Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
            f"from checkpoint but received {type(new)}"
        )
    if not is_lazy(own):
        if own.dim() == 0 and tuple(new.shape) == (1,):  # as files of old have it
            new = new[0]
        if new.shape != own.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, the "
                f"shape in current model is {own.shape}."
            )
    elif is_lazy(new):
        return ""
    if not assign and new.is_meta and not own.is_meta:
        return _failed(key, own, new, ("Cannot copy out of meta tensor; no data!",))
    if own.is_meta and not new.is_meta and not assign:
        warn_user(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
            "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
            "state dictionary to their corresponding key in the module instead of copying them in place?)"
        )
    if torch.__future__.get_swap_module_params_on_conversion() and not is_lazy(own):
        return _do(partial(_swap, key, own, new, assign))
    if assign:
        return _do(partial(_assign, module, name, own, new))
    return _do(partial(_copy, key, own, new))


def _failed(key: str, own: Any, new: Any, why: tuple[Any, ...]) -> str:
    return (
        f'While copying the parameter named "{key}", whose dimensions in the model are {own.size()} and '
        f"whose dimensions in the checkpoint are {new.size()}, an exception occurred : {why}."
    )


def _copy(key: str, own: Any, new: Any, load: _Load) -> str:
    with torch.no_grad():
        if load.cautious:
            load.undo.steps.append(partial(_put_back, own, own.detach().clone()))
        try:
            own.copy_(new)
        except Exception as error:  # noqa: BLE001  (a backend may raise anything)
            return _failed(key, own, new, error.args)
    return ""


def _put_back(own: Any, old: Any) -> None:
    with torch.no_grad():
        own.copy_(old)


def _swap(key: str, own: Any, new: Any, assign: bool, load: _Load) -> str:
    """Load as the tensor's `module_load` wants it, and let the object become the result."""
    with torch.no_grad():
        if not assign:  # any class of tensors may fail
            load.undo.steps.append(partial(_put_back, own, own.detach().clone()))
        try:
            made = own.module_load(new, assign=assign)
            if made is own or made is new:
                raise RuntimeError(
                    "module_load returned one of self or other, please .detach() the result if "
                    "returning one of the inputs in module_load"
                )
            if isinstance(own, Parameter) and not isinstance(made, Parameter):
                made = Parameter(made, requires_grad=own.requires_grad)
            elif isinstance(own, Parameter):
                made.requires_grad_(own.requires_grad)
            if made.device == own.device and made.dtype == own.dtype:
                made.grad = own.grad
            torch.utils.swap_tensors(own, made)
        except Exception as error:  # noqa: BLE001  (a class of tensors may raise anything)
            return _failed(key, own, new, error.args)
    load.undo.steps.append(partial(torch.utils.swap_tensors, own, made))
    return ""


def _assign(module: Any, name: str, own: Any, new: Any, load: _Load) -> str:
    load.undo.steps.append(partial(setattr, module, name, own))
    if isinstance(own, Parameter):
        if isinstance(new, Parameter):
            new.requires_grad_(own.requires_grad)
        else:
            new = Parameter(new, requires_grad=own.requires_grad)
    setattr(module, name, new)
    return ""


def _set_extra_state(module: Any, state: Any, load: _Load) -> str:
    if type(module).get_extra_state is not StateDict.get_extra_state and load.cautious:
        load.undo.steps.append(partial(module.set_extra_state, module.get_extra_state()))
    module.set_extra_state(state)
    return ""


def _collect(
    module: Any,
    state: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    keys: _IncompatibleKeys,
    errors: list[str],
) -> None:
    """Have every module say what it would load."""
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local, True, *keys, errors)
    for name, child in module._modules.items():
        if child is not None:
            path = f"{prefix}{name}."
            below = OrderedDict((k, v) for k, v in state.items() if k.startswith(path))
            _collect(child, below, path, metadata, assign, keys, errors)


def _with_post_hooks(module: Any) -> Iterator[Any]:
    """The modules that have hooks to call after loading, those below first."""
    for child in module._modules.values():
        if child is not None:
            yield from _with_post_hooks(child)
    if module._load_state_dict_post_hooks:
        yield module


def _call_post_hooks(modules: list[Any], keys: _IncompatibleKeys) -> None:
    for module in modules:
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                    "return new values, if incompatible_keys need to be modified, it should be done "
                    "inplace."
                )


def _key_errors(keys: _IncompatibleKeys) -> list[str]:
    """What to say of keys in strict mode."""
    found = []
    for kind, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)):
        if names:
            listed = ", ".join(f'"{name}"' for name in names)
            found.append(f"{kind} key(s) in state_dict: {listed}. ")
    return found
