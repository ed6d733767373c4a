"""Recurrent layers, packed sequences and their errors agree with PyTorch."""

import pytest
from collecting import Scenarios
from module_scenarios import attempt, fill, numbers, play, values

scenario = Scenarios()


def recurrent(t, kind, **settings):
    m = fill(t, getattr(t.nn, kind)(3, 4, **settings))
    batch = settings.get("batch_first", False)
    x = values(t, 2, 5, 3) if batch else values(t, 5, 2, 3)
    x.requires_grad_()
    out, state = m(x)
    states = state if kind == "LSTM" else (state,)
    (out.sin().sum() + sum(s.cos().sum() for s in states)).backward()
    found = [repr(m), numbers(out), [numbers(s) for s in states], numbers(x.grad)]
    found += [(n, numbers(p.grad)) for n, p in m.named_parameters()]
    again = m(x, tuple(s.detach() for s in states) if kind == "LSTM" else states[0].detach())
    return [*found, numbers(again[0]), list(m.state_dict()), len(m.all_weights)]


def recurrent_packed(t, kind, **settings):
    rnn = t.nn.utils.rnn
    m = fill(t, getattr(t.nn, kind)(3, 4, **settings))
    x = values(t, 5, 3, 3)
    x.requires_grad_()
    packed = rnn.pack_padded_sequence(x, [2, 5, 3], enforce_sorted=False)
    out, state = m(packed)
    padded, lengths = rnn.pad_packed_sequence(out, padding_value=-1.0)
    states = state if kind == "LSTM" else (state,)
    (padded.sin().sum() + sum(s.cos().sum() for s in states)).backward()
    found = [numbers(padded), lengths.tolist(), [numbers(s) for s in states], numbers(x.grad)]
    return found + [(n, numbers(p.grad)) for n, p in m.named_parameters()]


for _kind, _settings in (
    ("LSTM", {}),
    ("GRU", {}),
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu"}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("GRU", {"num_layers": 2, "bidirectional": True, "bias": False}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
    ("RNN", {"num_layers": 3, "bidirectional": True}),
):
    for _make in (recurrent, recurrent_packed):
        if _make is recurrent_packed and "batch_first" in _settings:
            continue

        def _play(t, make=_make, kind=_kind, settings=_settings):
            return make(t, kind, **settings)

        _play.__name__ = "-".join([_make.__name__, _kind, *_settings])
        scenario(_play)


@scenario
def recurrent_arguments(t):
    lstm = t.nn.LSTM(3, 4)
    h = t.zeros(1, 2, 4)
    return [
        attempt(lambda: t.nn.LSTM(3, 4, dropout=2)),
        attempt(lambda: t.nn.LSTM(3, 4, proj_size=4)),
        attempt(lambda: t.nn.LSTM(0, 4)),
        attempt(lambda: t.nn.LSTM(3, 4, num_layers=0)),
        attempt(lambda: t.nn.LSTM(3.0, 4)),
        attempt(lambda: t.nn.LSTM(3, 4, bias=1)),
        attempt(lambda: t.nn.GRU(3, 4, proj_size=2)),
        attempt(lambda: t.nn.RNN(3, 4, nonlinearity="x")),
        attempt(lambda: lstm(t.ones(5, 2, 4))),
        attempt(lambda: lstm(t.ones(5, 2, 3), (h, h[:, :1]))),
        attempt(lambda: lstm(t.ones(5, 2, 3), (h[0], h[0]))),
        attempt(lambda: lstm(t.ones(5, 2, 3).double())),
        attempt(lambda: t.nn.LSTMCell(3, 4)(t.ones(2, 5)))[0],
        attempt(lambda: t.nn.GRUCell(3, 4)(t.ones(1, 1, 3))),
        tuple(lstm(t.ones(5, 3))[0].shape),
        repr(t.nn.LSTMCell(3, 4, bias=False)),
        repr(t.nn.RNNCell(3, 4, nonlinearity="relu")),
        tuple(t.nn.LSTMCell(3, 4)(t.ones(3))[1].shape),
    ]


@scenario
def recurrent_of_one_sequence(t):
    found = []
    for kind in ("RNN", "GRU", "LSTM"):
        for batch_first in (True, False):
            m = fill(t, getattr(t.nn, kind)(3, 4, 2, batch_first=batch_first, bidirectional=True))
            out, state = m(values(t, 5, 3))
            again = m(values(t, 5, 3), state)[0]
            states = state if kind == "LSTM" else (state,)
            found.append([numbers(out), numbers(again), *map(numbers, states)])
    return found


@scenario
def sequences(t):
    rnn = t.nn.utils.rnn
    parts = [t.arange(3.0), t.arange(1.0), t.arange(2.0)]
    packed = rnn.pack_sequence(parts, enforce_sorted=False)
    return [
        numbers(rnn.pad_sequence(parts)),
        numbers(rnn.pad_sequence(parts, True, -1.0, "left")),
        numbers(packed.data),
        packed.batch_sizes.tolist(),
        packed.sorted_indices.tolist(),
        [numbers(s) for s in rnn.unpack_sequence(packed)],
        str(packed.to(t.float64).data.dtype),
        attempt(lambda: rnn.pack_sequence(parts))[0],
        attempt(lambda: rnn.pad_packed_sequence(packed, total_length=1)),
        numbers(rnn.pad_packed_sequence(packed, total_length=4)[0]),
        attempt(lambda: rnn.pack_padded_sequence(t.ones(3, 2), [3, 0]))[0],
        attempt(lambda: rnn.pack_padded_sequence(t.ones(3, 2), [3]))[0],
    ]


@pytest.mark.parametrize("each", scenario, ids=lambda f: f.__name__)
def test_the_same_happens(each):
    play(each)
