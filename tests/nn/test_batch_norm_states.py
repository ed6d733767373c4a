"""Batch normalisation in each state of its buffers and settings, beside PyTorch's."""

import itertools

import pytest

oracle = pytest.importorskip("torch")

from module_scenarios import assert_same, attempt, fill, numbers, play, values  # noqa: E402

import mindtorch_core as torch  # noqa: E402

STATES = list(itertools.product([0.1, 0.0, None], [True, False], [True, False], [True, False]))


def state(m):
    """What a module holds, by names; a number without a value is None."""
    held = m.state_dict().items()
    return [[name, None if t is None or t.is_meta else numbers(t.double())] for name, t in held]


def stepped(t, m, *, train):
    """What a module gives for two batches, and what it then remembers."""
    m.train(train)
    found = []
    for scale in (1.0, 3.0):
        x = (values(t, 4, 3, 5, scale=scale) + scale).requires_grad_()
        told = attempt(lambda x=x: m(x))
        if told[0] == "returned":
            told[1].square().sum().backward()
            told = ("returned", numbers(told[1]), numbers(x.grad))
        found.append(told)
    return [*found, state(m)]


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(("momentum", "affine", "track", "bias"), STATES)
def test_each_setting(momentum, affine, track, bias, train):
    def run(t):
        m = fill(
            t,
            t.nn.BatchNorm1d(
                3, momentum=momentum, affine=affine, track_running_stats=track, bias=bias
            ),
        )
        found = [stepped(t, m, train=train), stepped(t, m, train=not train)]
        m.reset_running_stats()
        found.append(state(m))
        stepped(t, m, train=True)
        m.reset_parameters()
        return [*found, state(m), repr(m)]

    play(run)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("track", [True, False])
@pytest.mark.parametrize("momentum", [0.3, None])
@pytest.mark.parametrize(
    "gone",
    [["running_mean", "running_var"], ["running_mean"], ["running_var"], ["num_batches_tracked"]],
)
def test_buffers_that_are_gone(gone, momentum, track, train):
    def run(t):
        m = t.nn.BatchNorm1d(3, momentum=momentum)
        m.track_running_stats = track
        for name in gone:
            setattr(m, name, None)
        m.train(train)
        found = attempt(lambda: numbers(m(values(t, 4, 3))))
        if found[0] != "returned":
            found = found[:1]  # the texts are the op's, which has tests of its own
        return [found, state(m)]

    play(run)


@pytest.mark.parametrize(
    ("gone", "mean", "var", "count"),
    [("running_mean", None, 5.0, 7), ("running_var", 5.0, None, 7), ("num_batches_tracked", 0.0, 1.0, None), (None, 0.0, 1.0, 0)],
)  # fmt: skip
def test_statistics_of_which_one_is_gone_are_not_reset(gone, mean, var, count):
    m = torch.nn.BatchNorm1d(1)
    m.running_mean.fill_(5)
    m.running_var.fill_(5)
    m.num_batches_tracked.fill_(7)
    if gone:
        setattr(m, gone, None)
    m.reset_running_stats()
    held = (m.running_mean, m.running_var, m.num_batches_tracked)
    assert [None if t is None else t.item() for t in held] == [mean, var, count]


@pytest.mark.parametrize("version", [None, 1, 2])
@pytest.mark.parametrize("track", [True, False])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("gone", [True, False])
def test_files_of_before_batches_were_counted(version, track, counted, gone):
    def run(t):
        m = t.nn.BatchNorm1d(3, track_running_stats=track)
        m.train()
        m(values(t, 4, 3))
        held = m.state_dict()
        if not counted:
            held.pop("num_batches_tracked", None)
        held._metadata[""]["version"] = version
        other = t.nn.BatchNorm1d(3, track_running_stats=track)
        other.train()
        for _ in range(3):
            other(values(t, 4, 3))
        if gone:
            other.num_batches_tracked = None
        told = attempt(lambda: str(other.load_state_dict(held)))
        # What a file that does not fit has changed is taken back here.
        return [told, state(other) if told[0] == "returned" else None]

    play(run)


def test_a_mean_over_all_batches_has_no_factor_on_meta():
    m = torch.nn.BatchNorm1d(3, momentum=None, device="meta")
    assert m(torch.ones(4, 3, device="meta")).shape == (4, 3)


def test_a_batch_norm_on_meta_takes_files_that_do_not_count():
    def run(t):
        m = t.nn.BatchNorm1d(3, device="meta")
        shape = tuple(m(t.ones(4, 3, device="meta")).shape)
        held = t.nn.BatchNorm1d(3).state_dict()
        del held["num_batches_tracked"]
        held._metadata[""]["version"] = 1
        m.load_state_dict(held, assign=True)
        return [shape, state(m)]

    play(run)


@pytest.fixture
def two_ranks():
    """A group of two, of which the other one is imagined to have nothing: sums are this one's."""
    torch.distributed.init_process_group("fake", rank=0, world_size=2)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize(
    ("dtype", "shape"), [("float32", (4, 3)), ("float64", (4, 3, 5)), ("float16", (2, 3, 2, 2))]
)
@pytest.mark.parametrize(("momentum", "affine", "track", "bias"), STATES)
def test_what_is_synchronised_is_what_one_would_normalise_alone(
    momentum, affine, track, bias, dtype, shape, two_ranks
):
    kind = {2: "BatchNorm1d", 3: "BatchNorm1d", 4: "BatchNorm2d"}[len(shape)]
    given = {"momentum": momentum, "affine": affine, "track_running_stats": track, "bias": bias}
    wide = "float64" if dtype == "float64" else "float32"
    mine = fill(torch, torch.nn.SyncBatchNorm(3, **given)).to(getattr(torch, wide))
    theirs = fill(oracle, getattr(oracle.nn, kind)(3, **given)).to(getattr(oracle, wide))
    for scale in (1.0, 3.0):
        x, y = (
            (values(t, *shape, scale=scale) + scale).to(getattr(t, dtype)) for t in (torch, oracle)
        )
        x.requires_grad_()
        found, wanted = mine(x), theirs(y.to(getattr(oracle, wide)))
        assert str(found.dtype).endswith(dtype)
        close = 2e-2 if dtype == "float16" else 1e-5
        assert numbers(found) == pytest.approx(numbers(wanted), rel=close, abs=close)
        found.sum().backward()
    assert_same(state(mine), state(theirs))
    mine.eval()
    theirs.eval()
    z = values(torch, *shape).to(getattr(torch, wide))
    w = values(oracle, *shape).to(getattr(oracle, wide))
    assert numbers(mine(z)) == pytest.approx(numbers(theirs(w)), rel=1e-4, abs=1e-4)


def test_one_element_of_a_channel_cannot_be_normalised(two_ranks):
    m = torch.nn.SyncBatchNorm(3)
    with pytest.raises(
        ValueError, match=r"more than 1 value per channel .* size torch.Size\(\[1, 3\]\)"
    ):
        m(torch.ones(1, 3))
    assert m(torch.ones(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match=r"at least 2D input \(got 1D input\)"):
        m(torch.ones(3))
    with pytest.raises(ValueError, match="should be non-zero"):
        m(torch.ones(3, 0))


@pytest.mark.parametrize(
    ("affine", "track", "bias"), [(True, True, True), (True, True, False), (False, False, True)]
)
def test_a_module_that_is_converted_shares_its_tensors(affine, track, bias):
    inner = torch.nn.BatchNorm2d(3, 0.25, 0.5, affine, track, bias=bias).eval()
    whole = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(inner))
    made = torch.nn.SyncBatchNorm.convert_sync_batchnorm(whole, "group")
    assert made is whole
    (found,) = (m for m in made.modules() if isinstance(m, torch.nn.SyncBatchNorm))
    assert not any(type(m) is torch.nn.BatchNorm2d for m in made.modules())
    assert (found.eps, found.momentum, found.process_group, found.training) == (
        0.25,
        0.5,
        "group",
        False,
    )
    for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
        assert getattr(found, name) is getattr(inner, name)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("gone", [0, 1])
@pytest.mark.parametrize("what", ["batch_norm", "instance_norm"])
def test_statistics_of_which_one_is_missing_are_refused(what, gone, training):
    def run(t):
        held = [t.zeros(3), t.ones(3)]
        held[gone] = None
        found = attempt(
            lambda: getattr(t.nn.functional, what)(values(t, 4, 3, 2), *held, None, None, training)
        )
        return [found, [numbers(each) for each in held]]

    play(run)
