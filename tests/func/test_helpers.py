"""Small helpers of ``torch.func``, as in PyTorch."""


def test_debug_unwrap_shows_what_holds_the_samples(lib):
    shapes = []

    def inner(t):
        shapes.append([tuple(lib.func.debug_unwrap(t, recurse=all).shape) for all in (True, False)])
        return t * 1

    x = lib.ones(2, 3, 4)
    lib.vmap(lib.vmap(inner))(x)
    assert shapes == [[(2, 3, 4), (3, 4)]]
    assert lib.func.debug_unwrap(x) is x


def test_batch_norms_without_statistics_run_on_samples(lib):
    net = lib.nn.Sequential(lib.nn.Conv1d(1, 2, 3), lib.nn.BatchNorm1d(2), lib.nn.Flatten())
    plain = lib.nn.BatchNorm1d(2, track_running_stats=False)
    assert lib.func.replace_all_batch_norm_modules_(net) is net
    assert lib.func.replace_all_batch_norm_modules_(plain) is plain
    norm = net[1]
    assert (norm.running_mean, norm.running_var, norm.num_batches_tracked) == (None, None, None)
    assert norm.track_running_stats is False
    assert set(net.state_dict()) == {"0.weight", "0.bias", "1.weight", "1.bias"}
    x = lib.linspace(0, 1, 30).view(3, 1, 10)
    found = lib.vmap(lambda one: net(one.unsqueeze(0)))(x)
    assert tuple(found.shape) == (3, 1, 16)
    assert found.mean(-1).abs().max() < 1e-5
