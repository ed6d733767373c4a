"""What the scripts of fresh interpreters use; copied beside them and imported whole."""

import warnings
from contextlib import contextmanager

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import TABLE

__all__ = [
    "cpu_and_meta_work", "plugins", "record_warnings", "refused", "registry", "snapshot", "states",
    "torch", "warned",
]  # fmt: skip

warned = []  # texts of the warnings, once `record_warnings` was called


def record_warnings():
    """Keep warnings instead of raising them."""
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, *rest: warned.append(str(message))


@contextmanager
def refused(*parts):
    """Expect that no backend serves a device, for a reason in whose text all parts occur."""
    text = None
    try:
        yield
    except torch.BackendUnavailableError as error:
        text = str(error)
    assert text is not None, "it was not refused"
    missing = [part for part in parts if part not in text]
    assert not missing, f"{missing} not in: {text}"


def states():
    """State of each installed backend."""
    return {status.name: status.state for status in plugins.backends()}


def cpu_and_meta_work():
    """Hold what nothing that befalls a third party may change."""
    assert (torch.tensor([1.0, 2.0]) + 1).tolist() == [2.0, 3.0]
    assert (torch.ones(2, device="meta") + 1).is_meta


def snapshot():
    """Everything the registry and the device table hold."""
    entries = {
        e.name: (
            str(e.schema),
            e.definition,
            dict(e.kernels),
            {key: list(records) for key, records in e.records.items()},
            set(e.fallthrough),
            dict(e.metas),
            dict(e.plans),
        )
        for e in registry
    }
    return entries, dict(registry.fallbacks), dict(registry.wrappers), dict(TABLE)
