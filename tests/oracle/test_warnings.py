"""What ops, modules, optimizers, distributions and loaders warn of: what PyTorch warns of, at the line of the caller."""

import math
import warnings
from importlib import import_module

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.values import user_warnings

pt = pytest.importorskip("torch")
pytest.importorskip("pytorchs_biases")

LAYER = "t.nn.TransformerEncoderLayer(8, {})"
PROGRAMS = [
    *(f"t.nn.TransformerEncoder({LAYER.format(options)}, 1{more})"
      for more in ("", ", enable_nested_tensor=False")
      for options in ("2", "2, batch_first=True", "2, batch_first=True, norm_first=True", "1, batch_first=True",
                      "2, batch_first=True, bias=False", "2, batch_first=True, activation='gelu'")),
    "t.nn.TransformerEncoder(t.nn.Linear(2, 2), 1)", "t.nn.Container()", "t.nn.NLLLoss2d()",
    "t.nn.Linear(2, 2).to(t.complex64)", "t.nn.InstanceNorm2d(3)(t.ones(1, 2, 3, 3))", "t.nn.Linear(1, 1).state_dict({})",
    "t.nn.LSTM(2, 2, dropout=0.5)", "t.nn.MSELoss(size_average=True)", "t.nn.L1Loss(reduce=False)",
    "t.nn.init.uniform(t.ones(2))", "t.nn.init.xavier_normal(t.ones(2, 2))", "t.nn.init.kaiming_normal_(t.ones(0, 2))",
    "t.nn.init.trunc_normal_(t.ones(2), mean=9)", "t.nn.Linear(0, 2)",
    "t.optim.lr_scheduler.StepLR(sgd(t), 2).step()", "t.optim.lr_scheduler.StepLR(sgd(t), 2).step(1)",
    "t.optim.lr_scheduler.StepLR(sgd(t), 2).get_lr()", "t.optim.lr_scheduler.ReduceLROnPlateau(sgd(t)).step(1.0, 1)",
    "t.optim.lr_scheduler.ExponentialLR(sgd(t), 0.5).get_lr()", "t.optim.SGD([t.nn.Parameter(t.ones(1))] * 2, 1.0)",
    "t.distributions.Normal(0.0, 1.0).sample_n(2).shape", "t.distributions.Wishart(2.5, t.eye(3))",
    "type('D', (t.distributions.Distribution,), {})()",
    "type('D', (t.distributions.Normal,), {'support': property(raising)})(0.0, 1.0).log_prob(t.ones(1))",
    "t.utils.data.ConcatDataset([[1]]).cummulative_sizes", "t.utils.data.random_split([1], [1, 0])",
    "t.utils.data.random_split([1], [0.5, 0.5])",

    "t.nn.functional.mse_loss(t.ones(2, 1), t.ones(1, 2))", "t.nn.functional.kl_div(t.ones(2), t.ones(2))",
    "t.nn.functional.sigmoid(t.ones(1))", "t.nn.functional.upsample(t.ones(1, 1, 2), 4)",
    "t.nn.functional.upsample_nearest(t.ones(1, 1, 2, 2), 4)", "t.nn.UpsamplingNearest2d(2)(t.ones(1, 1, 2, 2))",
    "t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 1, 1, 2))",
    "t.nn.functional.affine_grid(t.eye(2, 3)[None], (1, 1, 2, 2))",
    "t.nn.Dropout3d()(t.ones(2, 2))", "t.nn.functional.l1_loss(t.ones(2), t.ones(2), size_average=False)",
    "t.nn.functional.smooth_l1_loss(t.ones(2, 1), t.ones(2))", "t.nn.functional.huber_loss(t.ones(2, 1), t.ones(2))",
    "t.nn.functional.softmax(t.ones(2))", "t.nn.functional.log_softmax(t.ones(2, 2))", "t.nn.functional.softmin(t.ones(2))",
    "t.nn.Softmax()(t.ones(2))", "t.nn.LogSoftmax()(t.ones(2))", "t.nn.Softmin()(t.ones(2))",
    "t.nn.functional.gumbel_softmax(t.ones(2), eps=1e-3)", "t.nn.functional.gumbel_softmax(t.ones(2), eps=1e-10)",
    *(f"t.nn.functional.affine_grid(t.eye({n}, {n + 1})[None], (1, 1, 2, {shape}), align_corners=True)"
      for n, shape in ((2, 1), (2, 2), (3, "1, 2"), (3, "2, 2"))),
    *(f"t.nn.functional.multi_head_attention_forward(*[t.ones(2, 1, 4)] * 3, 4, 2, t.ones(12, 4), t.ones(12), None, None, False,"
      f" 0.0, t.ones(4, 4), t.ones(4), key_padding_mask=t.zeros(1, 2){one}, attn_mask=t.zeros(2, 2){other})"
      for one in (" > 0", "") for other in (" > 0", "")),
    *(f"t.nn.functional.dropout{n}d(t.ones({', '.join('2' * dims)}))" for n in (1, 2, 3) for dims in range(2, 7) if n > 1 or dims == 3),
    "t.nn.functional.embedding_bag(t.ones(3, 2), t.ones(2, 2, dtype=t.int64))", "t.nn.functional.upsample_bilinear(t.ones(1, 1, 2, 2), 4)",
    "t.nn.utils.clip_grad_norm(t.nn.Parameter(t.ones(1)), 1.0)", "t.nn.utils.weight_norm(t.nn.Linear(2, 2))",
    "t.nn.utils.clip_grad_norm_((p for p in ()), 1.0)", "t.nn.utils.stateless.functional_call(t.nn.Linear(1, 1), {}, t.ones(1))",
    "t.nn.MultiheadAttention(4, 2)(*[t.ones(2, 1, 4)] * 3, t.zeros(1, 2) > 1, attn_mask=t.zeros(2, 2))",
    *(f"import_module(t.__name__ + '.nn.attention.bias').causal_{end}({sizes})" for end in ("upper_left", "lower_right") for sizes in ("3, 2", "2, 2", "2, 3")),
    "t.nn.Linear(1, 1, device='meta').load_state_dict(t.nn.Linear(1, 1).state_dict())",
    "t.nn.Linear(1, 1, device='meta').load_state_dict(t.nn.Linear(1, 1).state_dict(), assign=True)",
    "t.nn.Hardtanh(min_value=-1.0)", "t.nn.Hardtanh(max_value=1.0)",
    "t.optim.lr_scheduler.CyclicLR(sgd(t), 0.1, 1.0, cycle_momentum=False).get_lr()",
    "t.optim.lr_scheduler.OneCycleLR(sgd(t), 0.1, 10, cycle_momentum=False).get_lr()",
    "t.optim.swa_utils.SWALR(sgd(t), 0.1).get_lr()", "t.utils.data.DataLoader([1], num_workers=99)",

    "t.tensor(t.ones(2))", "t.tensor(t.nn.Parameter(t.ones(2)))", "t.ones(2).new_tensor(t.ones(3))", "t.as_tensor(t.ones(2))",
    "t.tensor([np.ones(2), np.ones(2)])", "t.as_tensor([[np.ones(2)]])", "t.tensor([np.float64(2), 1.0])", "t.tensor(np.ones((2, 2)))",
    "float(leaf(t))", "float(leaf(t) * 2)", "float(leaf(t).detach())", "int(leaf(t))", "leaf(t).item()", "math.sqrt(leaf(t))",
    "complex(leaf(t))",
    "t.ones(2, dtype=t.complex64).to(t.float64)", "t.ones(2, dtype=t.complex64).int()", "t.ones(2, dtype=t.complex64).bool()",
    "t.ones(2, dtype=t.complex64).to(t.complex128)", "t.ones(2, dtype=t.complex64).type(t.float64)",
    "t.ones(2)[t.tensor([1, 0], dtype=t.uint8)]", "t.ones(2)[t.tensor([1, 0]) > 0]", "t.ones(2, 2)[:, t.tensor([1, 0], dtype=t.uint8)]",
    "t.meshgrid(t.ones(2), t.ones(3))", "t.meshgrid([t.ones(2)], indexing='xy')", "t.cross(t.ones(2, 3), t.ones(2, 3))",
    "t.cross(t.ones(2, 3), t.ones(2, 3), dim=1)", "t.ones(3).cross(t.ones(3))", "t.linalg.cross(t.ones(2, 3), t.ones(2, 3))",
    "t.qr(t.eye(2))", "t.eye(2).qr(False)", "t.linalg.qr(t.eye(2))", "t.lu(t.eye(2))", "t.eye(2).lu()", "t.cholesky(t.eye(2))",
    "t.eye(2).cholesky(True)", "t.linalg.cholesky(t.eye(2))", "t.lu_solve(t.eye(2), *t.linalg.lu_factor(t.eye(2)))",
    "t.triangular_solve(t.eye(2), t.eye(2))", "t.chain_matmul(t.eye(2), t.eye(2))", "t.linalg.multi_dot([t.eye(2), t.eye(2)])",
    "t.zeros(3).index_reduce(0, t.tensor([0]), t.ones(1), 'prod')", "t.zeros(3).index_reduce_(0, t.tensor([0]), t.ones(1), 'amax')",
    "t.stft(t.ones(16), 4, return_complex=True)", "t.stft(t.ones(16), 4, return_complex=True, window=t.ones(4))",
    "t.stft(t.ones(16), 4, window=t.ones(4), return_complex=False)", "t.istft(t.ones(3, 9, dtype=t.complex64), 4)",
    *(f"t.nn.functional.conv2d(t.ones(1, 1, 5, 5), t.ones(1, 1, {kernel}), padding='same', dilation={n})"
      for kernel in ("3, 3", "2, 2", "3, 2") for n in (1, 2)),
    "(leaf(t) * 2).backward(create_graph=True)", "t.autograd.grad(leaf(t) * 2, [leaf(t)], create_graph=True, allow_unused=True)",

    "t.autograd.backward([leaf(t) * 1], grad_variables=[t.ones(1)])", "(leaf(t) * 1).grad",
    "t.autograd.grad(leaf(t) * 1, [leaf(t)], only_inputs=False, allow_unused=True)", "t.autograd.detect_anomaly()",
    "t.autograd.gradcheck(lambda x: x * 1.0, leaf(t), raise_exception=False)", "type('F', (t.autograd.Function,), {})()",
    "t.autocast('cpu', dtype=t.float32)", "t.amp.autocast('cpu', dtype=t.int8)", "t.cpu.amp.autocast()",
    "t.cpu.amp.GradScaler()", "t.cuda.amp.GradScaler(enabled=False)", "t.cuda.amp.custom_fwd(len)", "t.cuda.amp.custom_bwd(len)",
    "t.amp.GradScaler()", "t.profiler.schedule(wait=0, warmup=0, active=1)", "t.testing.assert_allclose(t.ones(1), t.ones(1))",
    "t.tensor([[1], [2]])[[[0, 1], [0, 0]]]", "t.add(t.ones(2), 1, out=t.ones(3))", "t.add(t.ones(2), 2, t.ones(2))",
    "t.distributed.reduce_op.SUM",

    *(f"t.{call}" for call in ("ones(1).var()", "ones(3).var()", "ones(2).std(correction=2)", "ones(2).std(correction=3)", "ones(1, 1).var(1)",
      "ones(2, 1).var(0)", "ones(0).var()", "ones(0).std(correction=0)", "ones(0, 3).std(0)", "var_mean(t.ones(1))",
      "std_mean(t.ones(1, 2), dim=0)", "ones(1).var(unbiased=False)", "var(t.ones(1, 2), [0], True)")),
    *(f"t.zeros(3).scatter{form}(0, t.tensor([0]), {src}, reduce={how!r})" for form in ("", "_") for src in ("2.0", "t.ones(1)")
      for how in ("add", "multiply")),
    *(f"t.ones(2, dtype=t.complex64).{name}(0, dtype=t.{d})" for name in ("sum", "mean", "prod", "cumsum", "cumprod")
      for d in ("float32", "complex128")),
    *(f"t.where(t.tensor([1, 0], dtype=t.{d}), {values})" for d in ("uint8", "bool") for values in ("t.ones(2), t.zeros(2)", "1.0, 0.0")),
    "t.ones(2).where(t.tensor([1, 0], dtype=t.uint8), t.zeros(2))", "t.where(t.tensor([1, 0], dtype=t.uint8))",
    *(f"t.{call}" for call in ("is_autocast_cpu_enabled()", "set_autocast_cpu_enabled(False)", "get_autocast_cpu_dtype()",
      "get_autocast_gpu_dtype()", "set_autocast_cpu_dtype(t.bfloat16)", "set_autocast_gpu_dtype(t.float16)", "is_autocast_enabled('cpu')")),
    "t.backends.cuda.sdp_kernel()", "t.utils.data.DataLoader([1], pin_memory=True)",
    "t.multinomial(t.ones(3), 2, out=t.ones(9, dtype=t.int64))",
    *(f"t.eye(2).{call}" for call in ("to_sparse_csr()", "to_sparse_csc()", "to_sparse_bsr((1, 1))", "to_sparse_bsc((1, 1))", "to_sparse()")),
    "t.sparse_csr_tensor([0, 1], [0], [1.0], check_invariants=True)", "t.sparse_coo_tensor([[0]], [1.0], check_invariants=True)",
    "t.sparse_bsc_tensor([0, 1], [0], [[[1.0]]], check_invariants=True)",

    *(f"t.ones([2] * {dims}).T" for dims in range(5)), *(f"t.ones(()).{name}" for name in ("H", "mT", "mH")),
    *(f"t.ones(2, 2).{name}" for name in ("H", "mT", "mH")), "t.set_default_tensor_type(t.FloatTensor)",
    *(f"t.{call}, out=t.ones(9))" for call in ("ones(2", "zeros(2", "full((2,), 1.0", "empty(2", "eye(2", "linspace(0, 1, 2",
      "logspace(0, 1, 2", "range(0, 1", "arange(2.0", "fft.fftfreq(4", "fft.rfftfreq(4", "rand(2", "randn(2",
      "normal(0.0, 1.0, (2,)", "bernoulli(t.ones(2)", "abs(t.ones(2)", "cat([t.ones(2)]")),
    *(f"t.{call}, out=t.ones(9, dtype=t.int64))" for call in ("randint(5, (2,)", "randperm(2")),
]  # fmt: skip


# Those of the op that they are made of.
OWN_WORDS = tuple(
    f"t.{name}"
    for name in ("var_mean", "std_mean", "arange", "range", "linspace", "logspace", "fft")
)


def leaf(t):
    return t.ones(1, requires_grad=True)


def sgd(t):
    return t.optim.SGD([t.nn.Parameter(t.ones(1))], 1.0)


def raising(self):
    raise NotImplementedError


def start(warning):
    """What filters go by: the first words, which are PyTorch's."""
    return (
        str(warning.message)
        .replace("mindtorch_core", "torch")
        .replace("mindtorch_nn", "torch.nn")[:20]
    )


@pytest.fixture
def telling(monkeypatch):
    """Both libraries tell all, whatever a test before has chosen and PyTorch has told."""
    for lib in (torch, pt):
        monkeypatch.setattr(lib.distributions.Distribution, "_validate_args", True)
    before = [lib.is_warn_always_enabled() for lib in (torch, pt)]
    for lib in (torch, pt):
        lib.set_warn_always(True)
    yield
    for lib, was in zip((torch, pt), before, strict=True):
        lib.set_warn_always(was)


@pytest.mark.usefixtures("telling")
@pytest.mark.parametrize("program", PROGRAMS)
def test_warnings_as_in_pytorch(program):
    code, found = compile("\n" * 8 + program, __file__, "eval"), []
    for lib in (torch, pt):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(
                code,
                {
                    "t": lib,
                    "leaf": leaf,
                    "sgd": sgd,
                    "raising": raising,
                    "np": np,
                    "math": math,
                    "import_module": import_module,
                    "__name__": __name__,
                },
            )
        found.append(caught)
    mine, theirs = ([w.category for w in each] for each in found)
    assert mine == theirs
    mine, theirs = ([start(w) for w in each] for each in found)
    assert mine == theirs or program.startswith(OWN_WORDS)
    assert {(w.filename, w.lineno) for w in found[0]} <= {(__file__, 9)}


@pytest.mark.parametrize(
    "programs",
    [
        ("t.cross(t.ones(2, 3), t.ones(2, 3))", "t.cross(t.ones(3, 2), t.ones(3, 2))"),
        ("t.qr(t.eye(2))", "t.qr(t.eye(2), False)"),
        ("float(leaf(t))", "float(leaf(t))"),
        ("t.eye(2).to_sparse_csr()", "t.eye(2).to_sparse_bsc((1, 1))"),
    ],
    ids=str,
)
def test_what_is_said_once_in_a_process(monkeypatch, programs):
    monkeypatch.setattr(user_warnings, "_TOLD", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for program in programs:
            eval(program, {"t": torch, "leaf": leaf})
    assert len(caught) == 1
