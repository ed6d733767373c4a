"""What is set in a thread and changes what ops do: the recording of a captured function stands for it."""

from __future__ import annotations

from typing import Any

from ..amp.state import STATE, chosen_dtypes
from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.keys import MASKS
from ..dispatch.masks import is_grad_enabled
from ..gradients.packing import active_hooks
from ..tensors.autograd_state import INFERENCE
from ..values.devices import get_default_device
from ..values.dtypes import get_default_dtype

__all__ = ["Settings"]


class Settings:
    """What is set in this thread, and changes what ops do."""

    def __init__(self) -> None:
        self._masks = MASKS.include, MASKS.keep
        self._default = get_default_dtype()
        self._device = get_default_device()
        self._lower = {**STATE.dtypes}
        self._packing = active_hooks()
        self._named = _settings()

    def left(self) -> str | None:
        """What a function has left set otherwise; None where nothing is."""
        for name, now in _settings().items():
            if (was := self._named[name]) != now:
                return f"{name} was {was} before the call, and is {now} after it"
        return None

    def difference(self) -> str | None:
        """What is set otherwise now; None where nothing is."""
        masks = self._masks
        if (
            MASKS.include == masks[0]
            and MASKS.keep == masks[1]
            and get_default_dtype() is self._default
            and get_default_device() == self._device
            and STATE.dtypes == self._lower
            and active_hooks() == self._packing
        ):
            return None
        now = _settings()
        for name, was in self._named.items():
            if now[name] != was:
                return f"{name} was {was} when it was captured, and is {now[name]} now"
        if active_hooks() != self._packing:
            return "other hooks pack saved tensors than when it was captured"
        if (MASKS.include, MASKS.keep) != masks:
            return "other dispatch keys are included or excluded than when it was captured"
        return None


def _settings() -> dict[str, Any]:
    include = MASKS.include
    lower = {k.name: str(d) for k, d in chosen_dtypes().items()}
    on = [backend.name.lower() for backend, key in AUTOCAST_OF.items() if include & key]
    return {
        "gradient mode": "on" if is_grad_enabled() else "off",
        "inference mode": "on" if include & INFERENCE else "off",
        "autocast": f"on for {', '.join(on)}" if on else "off",
        "the dtype of autocast": lower or "the default",
        "the default dtype": get_default_dtype(),
        "the default device": get_default_device(),
    }
