"""Filters whose every sample depends on those before: they run in Python's numbers, of double precision."""

from __future__ import annotations

from mindtorch_core import Tensor, tensor

__all__ = ["lfilter_core_loop", "overdrive_core_loop"]


def lfilter_core_loop(
    input_signal_windows: Tensor, a_coeff_flipped: Tensor, padded_output_waveform: Tensor
) -> Tensor:
    """Filter by what was put out before: ``y[n] = x[n] - sum(a[k] * y[n - k])``, for ``k`` from 1.

    Args:
        input_signal_windows: ``x``, batch x channels x samples.
        a_coeff_flipped: ``a`` of each channel, the last first, channels x order; ``a[0]`` is 1.
        padded_output_waveform: where ``y`` is written, behind ``order - 1`` samples from before.
    """
    rows = padded_output_waveform.tolist()
    for of_batch, out_of_batch in zip(input_signal_windows.tolist(), rows, strict=True):
        for x, a, y in zip(of_batch, a_coeff_flipped.tolist(), out_of_batch, strict=True):
            before = list(enumerate(a[:-1]))
            for n, value in enumerate(x):
                for k, weight in before:
                    value -= weight * y[n + k]
                y[n + len(before)] = value
    return padded_output_waveform.copy_(_like(rows, padded_output_waveform))


def overdrive_core_loop(
    waveform: Tensor, temp: Tensor, last_in: Tensor, last_out: Tensor, output_waveform: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Mix a wave with its distorted form, of which what is constant is filtered out.

    Args:
        waveform: channels x samples.
        temp: its distorted form, of the same shape.
        last_in: the distorted sample before, of each channel; the last one is written to it.
        last_out: what the filter gave before; its last result is written to it.
        output_waveform: where the mixture is written.
    """
    came, went, mixed = last_in.tolist(), last_out.tolist(), output_waveform.tolist()
    for c, (wave, bent) in enumerate(zip(waveform.tolist(), temp.tolist(), strict=True)):
        for i, (clean, sample) in enumerate(zip(wave, bent, strict=True)):
            went[c] = sample - came[c] + 0.995 * went[c]
            came[c] = sample
            mixed[c][i] = clean * 0.5 + went[c] * 0.75
    return (
        last_in.copy_(_like(came, last_in)),
        last_out.copy_(_like(went, last_out)),
        output_waveform.copy_(_like(mixed, output_waveform)),
    )


def _like(values: object, tensor_: Tensor) -> Tensor:
    return tensor(values, dtype=tensor_.dtype, device=tensor_.device)
