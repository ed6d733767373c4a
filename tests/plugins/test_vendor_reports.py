"""What vendors reported of other frameworks: see docs/vendors.md, which names the test for each."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ACME = ROOT / "examples" / "mindtorch-acme"


def test_each_report_has_its_test_or_a_reason():
    page = (ROOT / "docs" / "vendors.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", page, re.M)
    assert [int(row[0]) for row in rows] == list(range(1, 27))
    for number, report, here, test in rows:
        assert re.search(r"#\d+", report), number
        if test == "-":
            assert here.startswith("cannot arise"), number
            continue
        file, _, name = test.strip("`").partition("::")
        assert f"\ndef {name}(" in (ROOT / file).read_text("utf-8"), test


def test_a_backend_without_a_device_module_gets_one(site):
    site.toy("acme")
    site.run(
        """
assert torch.acme.is_available() and torch.acme.device_count() == 2
with torch.acme.device(1):
    assert torch.ones(1, device="acme").device == torch.device("acme:1")
assert torch.acme.memory_allocated() == 0
torch.acme.synchronize()
"""
    )


def test_results_of_the_fallback_have_shape_and_device(site):
    site.project(ROOT / "examples" / "mindtorch-zed")
    site.run(
        """
a = torch.tensor([[1.0, -2.0], [3.0, 4.0]], device="zed")
for made in (a.abs(), a.isfinite(), 2 // a, a.view(-1), torch.linalg.inv(a), a.t().exp()):
    assert made.device == torch.device("zed:0"), made
    assert made.numel() == 4
view = a.view(-1)
view[0] = 9.0
assert a[0, 0].item() == 9.0, "a view has memory of its own"
"""
    )


def test_events_of_a_device_without_queues_are_refused(site):
    site.toy("acme")
    site.run(
        """
import pytest
with pytest.raises(RuntimeError, match="acme backend doesn't support events"):
    torch.Event("acme").record()
with pytest.raises(AttributeError, match="the acme backend has no events"):
    torch.acme.Event
assert torch.Stream("acme").query()
"""
    )


def test_module_and_runtime_agree_on_the_stream(site):
    site.project(ACME)
    site.run(
        """
runtime, on = plugins.load("acme").runtime, torch.device("acme", 0)
stream = torch.acme.Stream()
assert stream != torch.acme.default_stream()
with stream:
    assert runtime.current_stream(on) == torch.acme.current_stream() == stream
    assert runtime.current_stream(torch.device("acme", 1)) != stream
assert runtime.current_stream(on) == torch.acme.current_stream() == torch.acme.default_stream()
"""
    )


def test_backward_runs_on_the_current_stream(site):
    site.project(ACME)
    site.run(
        """
from mindtorch_acme import sending
a = torch.ones(3, device="acme", requires_grad=True)
torch.ones((), device="acme") + 1  # what backward starts from is made once
loss = (a * a).sum()
loss.backward(retain_graph=True)
used, send = set(), sending.Queue.send
def noted(queue, jobs):
    used.add(queue)
    send(queue, jobs)
sending.Queue.send = noted
stream = torch.acme.Stream()
stream.wait_stream(torch.acme.current_stream())
used.clear()
with stream:
    loss.backward()
chip = sending.chip_of(torch.device("acme", 0))
assert used == {chip.queue(stream.stream_id)}, used
stream.synchronize()
assert a.grad.tolist() == [4.0] * 3
"""
    )


def test_pending_results_are_on_the_device(site):
    site.toy("acme")
    site.run(
        """
with torch.pipeline():
    a = torch.ones(2, device="acme:1") + 1
    b = a * torch.tensor(3.0)
    assert a._pending and a.device == b.device == torch.device("acme:1")
assert b.tolist() == [6.0, 6.0]
"""
    )


def test_a_trace_names_the_ops_of_any_device(site):
    site.toy("acme")
    site.run(
        """
import json, pathlib, tempfile
with torch.pipeline(trace=True) as pipe:
    (torch.ones(2, device="acme") * 2).sum()
    kept = torch.ones(2, device="acme") + 2
file = pathlib.Path(tempfile.mkdtemp()) / "trace.json"
pipe.export_chrome_trace(str(file))
text = file.read_text()
assert json.loads(text) and "add" in text, text[:500]
"""
    )


def test_checkpoints_work_on_any_device(site):
    site.toy("acme")
    site.run(
        """
from mindtorch_core.utils.checkpoint import checkpoint
a = torch.tensor([1.0, 2.0], device="acme", requires_grad=True)
b = checkpoint(lambda t: (t * t).sum(), a, use_reentrant=False, preserve_rng_state=False)
b.backward()
assert a.grad.tolist() == [2.0, 4.0] and a.grad.device.type == "acme"
"""
    )


def test_loading_patches_no_class(site):
    site.project(ACME)
    site.run(
        """
registry.on_demand.define_all()
classes = (torch.Tensor, type(torch.ones(1).untyped_storage()), torch.device, torch.Generator)
names = [sorted(vars(c)) for c in classes]
plugins.load("acme")
torch.acme.device_count()
assert names == [sorted(vars(c)) for c in classes]
assert not hasattr(torch.Tensor, "is_acme") and not hasattr(torch.Tensor, "acme")
"""
    )


def test_files_of_a_foreign_device(site):
    site.project(ACME)
    site.run(
        """
import io
a = torch.arange(6.0).reshape(2, 3).to("acme").t()
file = io.BytesIO()
torch.save({"a": a, "n": 1}, file)
for where, device in ((None, "acme:0"), ("cpu", "cpu"), ("acme:1", "acme:1")):
    file.seek(0)
    back = torch.load(file, map_location=where)["a"]
    assert back.device == torch.device(device), (where, back.device)
    assert back.tolist() == a.tolist() and back.stride() == a.stride()
"""
    )


def test_a_backend_warns_at_the_users_line():
    kernels = {"__name__": "acme.kernels"}
    exec("from mindtorch_core.backend import warn_user\ndef slow(): warn_user('slow')", kernels)
    plugin = {"__name__": "acme", "slow": kernels["slow"]}
    exec("def kernel(): slow()", plugin)
    with pytest.warns(UserWarning, match="^slow$") as caught:
        plugin["kernel"]()
    assert caught[0].filename == __file__
