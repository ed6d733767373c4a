"""The adaptive softmax beside PyTorch's: values, gradients, refusals."""

import pytest

oracle = pytest.importorskip("torch")

from module_scenarios import attempt, fill, numbers, play, values  # noqa: E402

SETTINGS = [
    ((8, 10, [2, 5]), {}),
    ((8, 10, [2, 5]), {"div_value": 2.0, "head_bias": True}),
    ((8, 10, [1]), {"div_value": 1.5}),
    ((8, 10, [9]), {"div_value": 1.0}),
    ((16, 12, [3, 4, 8, 11]), {"div_value": 1.5, "head_bias": True}),
]


def made(t, given, options):
    return fill(t, t.nn.AdaptiveLogSoftmaxWithLoss(*given, **options))


@pytest.mark.parametrize(("given", "options"), SETTINGS)
@pytest.mark.parametrize("targets", ["all", "frequent", "rare"])
def test_values_and_gradients(given, options, targets):
    def run(t):
        m = made(t, given, options)
        n, bounds = given[1], given[2]
        which = {"all": [*range(n), 0], "frequent": [0] * 3, "rare": [n - 1, bounds[-1]]}[targets]
        x = values(t, len(which), given[0], scale=3.0).requires_grad_()
        out, loss = m(x, t.tensor(which))
        loss.backward()
        return [
            numbers(out), float(loss), numbers(x.grad), [tuple(p.shape) for p in m.parameters()],
            [numbers(p.grad) for p in m.parameters()], m.cutoffs, m.head_size, repr(m),
        ]  # fmt: skip

    play(run)


@pytest.mark.parametrize(("given", "options"), SETTINGS)
def test_all_classes_and_the_likeliest(given, options):
    def run(t):
        m = made(t, given, options)
        x = t.cat([values(t, 40, given[0], scale=s) for s in (1.0, -6.0, 30.0)])
        some = m.predict(x[:1]).tolist()
        return [
            numbers(m.log_prob(x)),
            m.predict(x).tolist(),
            some,
            numbers(m.log_prob(x).exp().sum(1)),
        ]

    play(run)


def test_where_every_sample_is_frequent_or_none_is():
    def run(t):
        m = made(t, (4, 6, [2]), {})
        found = []
        for sign in (1.0, -1.0):
            with t.no_grad():
                m.head.weight.copy_(t.tensor([[1.0] * 4, [0.5] * 4, [-1.0] * 4]) * sign)
            found.append(m.predict(t.ones(3, 4)).tolist())
        return found

    play(run)


@pytest.mark.parametrize("target", [0, 3, 9])
def test_one_sample_alone(target):
    def run(t):
        m = made(t, (8, 10, [2, 5]), {})
        out, loss = m(values(t, 8), t.tensor(target))
        return [tuple(out.shape), float(out), tuple(loss.shape), float(loss)]

    play(run)


@pytest.mark.parametrize(
    ("x", "target"),
    [((2, 8), [0, 10]), ((2, 8), [0, -1]), ((1, 8), [9]), ((2, 8), [-5, 12]), ((3, 8), [0, 1]), ((8,), [0, 1]),
     ((2, 8), 0), ((8,), 10), ((8,), -1), ((2, 2, 8), [0, 1]), ((2, 8), [[0, 1]])],
)  # fmt: skip
def test_targets_that_are_none_and_shapes_that_do_not_fit(x, target):
    play(
        lambda t: attempt(
            lambda: numbers(made(t, (8, 10, [2, 5]), {})(values(t, *x), t.tensor(target))[0])
        )
    )


@pytest.mark.parametrize(
    "cutoffs",
    [
        [],
        [0],
        [0, 5],
        [-1, 5],
        [1, 9],
        [9],
        [10],
        [1, 10],
        [5, 2],
        [2, 2],
        [2.5, 5],
        (1,),
        (3, 4, 5),
    ],
)
def test_cutoffs(cutoffs):
    play(lambda t: attempt(lambda: t.nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs, 1.1).cutoffs))


def test_every_layer_is_drawn_anew():
    def run(t):
        m = made(t, (8, 10, [2, 5]), {"head_bias": True})
        with t.no_grad():
            for p in m.parameters():
                p.fill_(7)
        m.reset_parameters()
        return [bool((p != 7).all()) for p in m.parameters()]

    play(run)


def test_targets_on_meta_have_no_values_to_refuse():
    def run(t):
        m = t.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], device="meta", dtype=t.float64)
        return [(str(p.device), str(p.dtype)) for p in m.parameters()]

    play(run)
