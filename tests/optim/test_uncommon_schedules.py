"""What schedules of learning rates do that few programs ask for, beside PyTorch: states and refusals."""

import io
import warnings

import mindtorch_core as torch
from same_results import names_of, results_are, scenarios_are


def sgd(lib, groups=1, **named):
    params = [{"params": [lib.nn.Parameter(lib.ones(2))]} for _ in range(groups)]
    return lib.optim.SGD(params, **({"lr": 1.0, "momentum": 0.9} | named))


class Halving:
    """A factor that is an object with a state."""

    def __init__(self, base):
        self.base = base

    def __call__(self, epoch):
        return self.base**epoch


names = names_of(
    "optim",
    "optim.lr_scheduler",
    Halving=lambda lib: Halving,
    sgd=lambda lib: lambda *args, **named: sgd(lib, *args, **named),
    plain=lambda lib: lambda: lib.optim.Adagrad([lib.nn.Parameter(lib.ones(2))]),
)

test_refusals_of_schedules = results_are(
    """
    ! lr_scheduler.LRScheduler(sgd())
    ! lr_scheduler.LRScheduler(3)
    ! lr_scheduler.LambdaLR(sgd(2), [Halving(0.5)])
    ! lr_scheduler.MultiplicativeLR(sgd(), 3)
    ! lr_scheduler.MultiplicativeLR(sgd(2), [Halving(0.5), 3])
    ! lr_scheduler.SequentialLR(sgd(), [], [])
    ! lr_scheduler.SequentialLR(sgd(), [3], [])
    ! lr_scheduler.ChainedScheduler([])
    ! lr_scheduler.ChainedScheduler([3])
    ! lr_scheduler.CyclicLR(plain(), 0.1, 1.0)
    ! lr_scheduler.CyclicLR(sgd(), 0.1, 1.0, mode="round")
    ! lr_scheduler.CyclicLR(sgd(2), 0.1, [1.0])
    ! lr_scheduler.CyclicLR(sgd(2), 0.1, 1.0, max_momentum=[0.9])
    ! lr_scheduler.OneCycleLR(plain(), 1.0, total_steps=5)
    ! lr_scheduler.OneCycleLR(sgd(), 1.0)
    ! lr_scheduler.OneCycleLR(sgd(), 1.0, total_steps=-5)
    ! lr_scheduler.OneCycleLR(sgd(), 1.0, total_steps=5, pct_start=1.5)
    ! lr_scheduler.OneCycleLR(sgd(), 1.0, total_steps=5, anneal_strategy="round")
    ! lr_scheduler.OneCycleLR(sgd(), 1.0, epochs=-1, steps_per_epoch=3)
    ! lr_scheduler.OneCycleLR(sgd(), 1.0, epochs=1, steps_per_epoch=-3)
    ! lr_scheduler.ReduceLROnPlateau(sgd(), factor=1.0)
    ! lr_scheduler.ReduceLROnPlateau(sgd(), mode="least")
    ! lr_scheduler.ReduceLROnPlateau(sgd(), threshold_mode="none")
    ! lr_scheduler.ReduceLROnPlateau(sgd(2), min_lr=[0.1])
    ! lr_scheduler.ConstantLR(sgd(), factor=1.5)
    ! lr_scheduler.LinearLR(sgd(), start_factor=0.0)
    ! lr_scheduler.LinearLR(sgd(), end_factor=1.5)
    ! lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 0)
    ! lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2, T_mult=0)
    ! lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2).step(-1)
    ! optim.swa_utils.SWALR(sgd(), 0.1, anneal_strategy="round")
    ! optim.swa_utils.SWALR(sgd(), 0.1, anneal_epochs=-1)
    ! optim.swa_utils.SWALR(sgd(2), [0.1])
    """,
    names,
)


def rates(schedule, steps, *args):
    found = []
    for _ in range(steps):
        schedule.optimizer.step()
        schedule.step(*args)
        found.append((schedule.get_last_lr(), schedule.optimizer.param_groups[0]["momentum"]))
    return found


def taken_over(lib, make, steps=3, *args):
    """What a schedule that took a state over goes on with."""
    first = make(sgd(lib))
    before = rates(first, steps, *args)
    state = first.state_dict()
    file = io.BytesIO()
    lib.save(state, file)  # nothing in it needs more than plain values
    assert [*lib.load(io.BytesIO(file.getvalue()), weights_only=True)] == [*state]
    optimizer = sgd(lib)
    optimizer.load_state_dict(first.optimizer.state_dict())
    second = make(optimizer)
    second.load_state_dict(state)
    optimizer.load_state_dict(first.optimizer.state_dict())
    return before, rates(second, steps, *args), rates(first, steps, *args)


def functions(lib):
    made = iter((Halving(0.5), Halving(0.25)))
    return taken_over(lib, lambda o: lib.optim.lr_scheduler.LambdaLR(o, next(made)))


def functions_of_groups(lib):
    scheduler = lib.optim.lr_scheduler.LambdaLR(sgd(lib, 2), [Halving(0.5), lambda epoch: 2.0])
    found = rates(scheduler, 2)
    return found, scheduler.state_dict()["lr_lambdas"]


def factors(lib):
    made = iter((Halving(0.5), Halving(0.25)))
    return taken_over(lib, lambda o: lib.optim.lr_scheduler.MultiplicativeLR(o, next(made)))


def cycles(lib):
    return taken_over(
        lib,
        lambda o: lib.optim.lr_scheduler.CyclicLR(o, 0.1, 1.0, 2, 3, mode="exp_range", gamma=0.9),
    )


def cycles_of_other_modes(lib):
    """The mode of the state counts."""
    modes = iter(("triangular2", "triangular"))
    return taken_over(
        lib, lambda o: lib.optim.lr_scheduler.CyclicLR(o, 0.1, 1.0, 1, mode=next(modes)), 5
    )


def cycles_of_objects(lib):
    made = iter((Halving(0.5), Halving(0.25)))
    return taken_over(
        lib,
        lambda o: lib.optim.lr_scheduler.CyclicLR(o, 0.1, 1.0, 1, scale_fn=next(made)),
        5,
    )


def plateaus(lib):
    """Kinds of the state count."""
    kinds = iter((("max", "abs"), ("min", "rel")))

    def make(optimizer):
        mode, threshold = next(kinds)
        return lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode, 0.5, 0, 0.1, threshold, cooldown=1, min_lr=0.01
        )

    return taken_over(lib, make, 4, 1.0)


def one_after_the_other(lib):
    S = lib.optim.lr_scheduler
    return taken_over(
        lib, lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)], [2])
    )


def all_at_once(lib):
    S = lib.optim.lr_scheduler
    return taken_over(
        lib, lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)])
    )


def parts_of_another_optimizer(lib):
    S = lib.optim.lr_scheduler
    own, other = sgd(lib), sgd(lib)
    S.SequentialLR(own, [S.ConstantLR(own), S.ConstantLR(other)], [2])


def plateaus_in_a_row(lib):
    S = lib.optim.lr_scheduler
    own = sgd(lib)
    S.SequentialLR(own, [S.ReduceLROnPlateau(own)], [])


def too_few_milestones(lib):
    S = lib.optim.lr_scheduler
    own = sgd(lib)
    S.SequentialLR(own, [S.ConstantLR(own), S.ConstantLR(own)], [])


def begun_in_the_middle(lib):
    """A cosine whose first step is a later one."""
    found = []
    for last in (1, 3, 7):
        optimizer = sgd(lib)
        optimizer.param_groups[0].update(lr=0.7, initial_lr=1.0)
        schedule = lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4, 0.1, last_epoch=last)
        found.append((schedule.get_last_lr(), rates(schedule, 3)))
    return found


def annealed(lib):
    """Towards the rates of averages, at once and by and by."""
    return [
        rates(lib.optim.swa_utils.SWALR(sgd(lib), 0.1, *options), 4)
        for options in ((0,), (1,), (3,), (3, "linear"))
    ]


def asked_for_rates(lib):
    schedule = lib.optim.lr_scheduler.StepLR(sgd(lib), 2)
    schedule.optimizer.step()
    schedule.step()
    return schedule.get_lr()


def own_schedule(lib):
    class Own(lib.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

        def _get_closed_form_lr(self):
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    schedule = Own(sgd(lib))
    found = rates(schedule, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schedule.step(5)
    return found, schedule.get_last_lr(), [*schedule.state_dict()]


test_states_of_schedules = scenarios_are(
    functions,
    functions_of_groups,
    factors,
    cycles,
    cycles_of_other_modes,
    cycles_of_objects,
    plateaus,
    one_after_the_other,
    all_at_once,
    parts_of_another_optimizer,
    plateaus_in_a_row,
    too_few_milestones,
    begun_in_the_middle,
    annealed,
    asked_for_rates,
    own_schedule,
)


def test_a_state_that_was_taken_over_is_as_it_was():
    """It can be loaded again."""
    schedules = torch.optim.lr_scheduler
    for make in (
        lambda: schedules.CyclicLR(sgd(torch), 0.1, 1.0, scale_fn=Halving(0.5)),
        lambda: schedules.LambdaLR(sgd(torch), Halving(0.5)),
        lambda: schedules.ChainedScheduler([schedules.ConstantLR(sgd(torch), 0.5)]),
    ):
        state = make().state_dict()
        before = repr(state)
        make().load_state_dict(state)
        assert repr(state) == before
