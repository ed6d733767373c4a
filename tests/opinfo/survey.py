"""How every op of PyTorch's OpInfo database fares here: each check's outcome, in several processes."""

import multiprocessing
import tempfile

import bare
from checks import OPS, NoSample, cases
from counterparts import Missing

PASSED, FAILED, MISSING, NONE = "passed", "failed", "missing", "none"


def outcome(run, device="cpu", **options):
    """How a check went, and what it said if it failed."""
    try:
        run(device=device, **options)
    except NoSample as reason:
        return NONE, str(reason)
    except Missing as error:
        return MISSING, str(error)
    except Exception as error:  # noqa: BLE001 (whatever a check raises is what it says)
        notes = " | ".join(getattr(error, "__notes__", ()))
        return FAILED, f"{type(error).__name__}: {error} {notes}"
    return PASSED, ""


def _survey_one(task):
    name, device = task
    return name, {check: outcome(run, device) for check, run in cases(OPS[name])}


def _prepare(device):
    if device == "bare":
        bare.install(tempfile.mkdtemp())


def survey(names=None, device="cpu", processes=2):
    """Outcomes of all checks as {op: {check: (outcome, text)}}."""
    tasks = [(name, device) for name in (OPS if names is None else names)]
    with multiprocessing.get_context("fork").Pool(processes, _prepare, (device,)) as pool:
        found = dict(pool.imap_unordered(_survey_one, tasks, chunksize=4))
    return {name: found[name] for name, _ in tasks}
