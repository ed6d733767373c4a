"""The ops of torchaudio's compiled library in Python, registered when this is imported.

torchaudio has the gradients of its filters and of its loss itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.library import Library

from .alignment import forced_align
from .loops import lfilter_core_loop, overdrive_core_loop
from .transducer import rnnt_loss_forward

__all__ = ["ABOUT", "LIBRARY"]

_OPS: Final[dict[str, Callable[..., Any]]] = {
    "forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank)"
    " -> (Tensor, Tensor)": forced_align,
    "_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, "
    "Tensor(a!) padded_output_waveform) -> Tensor(a!)": lfilter_core_loop,
    "_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
    "Tensor(c!) output_waveform) -> (Tensor(a!), Tensor(b!), Tensor(c!))": overdrive_core_loop,
    "rnnt_loss_forward(Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, "
    "int blank, float clamp, bool fused_log_softmax) -> (Tensor, Tensor)": rnnt_loss_forward,
}

LIBRARY: Final = Library("torchaudio", "DEF")
ABOUT: Final = Library("_torchaudio", "DEF")

for _schema, _kernel in _OPS.items():
    LIBRARY.define(_schema)
    LIBRARY.impl(_schema.partition("(")[0], _kernel, "CompositeExplicitAutograd")
ABOUT.define("is_align_available() -> bool")
ABOUT.impl("is_align_available", lambda: True, "CompositeExplicitAutograd")
ABOUT.define("cuda_version() -> int?")
ABOUT.impl("cuda_version", lambda: None, "CompositeExplicitAutograd")
