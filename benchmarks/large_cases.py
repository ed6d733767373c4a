"""The cases of `large_ops`: each is a function of a library that makes a call to be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

Call = Callable[[], Any]

TARGET: Final = 1.5  # times PyTorch's


@dataclass(frozen=True)
class Case:
    """A call at a large size; ``make(torch, nn)`` prepares it in a library."""

    name: str
    make: Callable[[Any, Any], Call]


def forward(
    name: str, shape: Any, compute: Callable[[Any, Any, Any], Any], integer: int = 0
) -> Case:
    """A case ``compute(torch, nn, x)`` of random numbers, or integers below ``integer``."""

    def make(torch: Any, nn: Any) -> Call:
        torch.manual_seed(0)
        x = torch.randint(0, integer, shape) if integer else torch.randn(*shape)
        return lambda: compute(torch, nn, x)

    return Case(name, make)


def backward(name: str, shapes: Any, compute: Callable[..., Any]) -> Case:
    """The backward pass of ``compute(torch, nn, *tensors)`` for all tensors."""

    def make(torch: Any, nn: Any) -> Call:
        torch.manual_seed(0)
        leaves = [torch.randn(*s).requires_grad_() for s in shapes]
        out = compute(torch, nn, *leaves)
        g = torch.randn(*out.shape)
        return lambda: torch.autograd.grad(out, leaves, g, retain_graph=True)

    return Case(name, make)


def given(name: str, make: Callable[[Any, Any], Call]) -> Case:
    """A case with operands of its own."""

    def seeded(torch: Any, nn: Any) -> Call:
        torch.manual_seed(0)
        return make(torch, nn)

    return Case(name, seeded)


# ---- products -----------------------------------------------------------------------------------


def product(name: str, a: Any, b: Any, dtype: str = "float32") -> Case:
    """A matrix product."""

    def make(torch: Any, nn: Any) -> Call:
        x, y = (torch.randn(*shape).to(getattr(torch, dtype)) for shape in (a, b))
        return lambda: torch.matmul(x, y)

    return given(name, make)


def convolutions(name: str, x: Any, w: Any, **options: Any) -> tuple[Case, Case]:
    """A convolution and its backward pass."""

    def make(torch: Any, nn: Any) -> Call:
        a, b = torch.randn(*x), torch.randn(*w)
        return lambda: nn.conv2d(a, b, **options)

    return (
        given(name, make),
        backward(f"{name}, backward", (x, w), lambda t, nn, a, b: nn.conv2d(a, b, **options)),
    )


def attention(torch: Any, nn: Any) -> Call:
    """Scaled dot-product attention of eight heads."""
    q, k, v = (torch.randn(4, 8, 512, 64) for _ in range(3))
    return lambda: nn.scaled_dot_product_attention(q, k, v)


PRODUCTS = (
    product("matmul 512", (512, 512), (512, 512)),
    product("matmul 2048", (2048, 2048), (2048, 2048)),
    product("matmul 64x256x256", (64, 256, 256), (64, 256, 256)),
    product("matmul 1024, bfloat16", (1024, 1024), (1024, 1024), "bfloat16"),
    product("matmul 16x128x128, bfloat16", (16, 128, 128), (16, 128, 128), "bfloat16"),
    product("matmul 256, float16", (256, 256), (256, 256), "float16"),
    given("attention 4x8x512x64", attention),
    backward(
        "attention, backward",
        [(4, 8, 512, 64)] * 3,
        lambda t, nn, *qkv: nn.scaled_dot_product_attention(*qkv),
    ),
)
CONVOLUTIONS = (
    *convolutions("8x64x56x56, 3x3", (8, 64, 56, 56), (64, 64, 3, 3), padding=1),
    *convolutions("8x64x56x56, 1x1", (8, 64, 56, 56), (256, 64, 1, 1)),
    *convolutions(
        "8x3x224x224, 7x7, stride 2", (8, 3, 224, 224), (64, 3, 7, 7), stride=2, padding=3
    ),
    *convolutions("8x256x14x14, 3x3", (8, 256, 14, 14), (256, 256, 3, 3), padding=1),
    *convolutions(
        "8x128x56x56, 3x3, stride 2", (8, 128, 56, 56), (128, 128, 3, 3), padding=1, stride=2
    ),
    *convolutions(
        "8x64x56x56, 3x3, dilation 2", (8, 64, 56, 56), (64, 64, 3, 3), padding=2, dilation=2
    ),
    *convolutions(
        "8x128x28x28, 3x3, 32 groups", (8, 128, 28, 28), (128, 4, 3, 3), padding=1, groups=32
    ),
    *convolutions(
        "8x64x112x112, depthwise, stride 2",
        (8, 64, 112, 112),
        (64, 1, 3, 3),
        padding=1,
        stride=2,
        groups=64,
    ),
    *convolutions("8x64x56x56, depthwise", (8, 64, 56, 56), (64, 1, 3, 3), padding=1, groups=64),
)

# ---- normalisation ------------------------------------------------------------------------------


def both(name: str, shapes: Any, compute: Callable[..., Any]) -> tuple[Case, Case]:
    """An op and its backward pass."""

    def make(torch: Any, nn: Any) -> Call:
        tensors = [torch.randn(*s) for s in shapes]
        return lambda: compute(torch, nn, *tensors)

    return given(name, make), backward(f"{name}, backward", shapes, compute)


ROWS, IMAGES = (8192, 1024), (32, 64, 56, 56)
PARAMETERS = ((64,), (64,))
SOFTMAX = (
    *both("softmax 4096x1024", [(4096, 1024)], lambda t, nn, x: t.softmax(x, -1)),
    *both("softmax 64x256x256, dim 1", [(64, 256, 256)], lambda t, nn, x: t.softmax(x, 1)),
    *both("log_softmax 4096x1024", [(4096, 1024)], lambda t, nn, x: t.log_softmax(x, -1)),
    *both("log_softmax 64x256x256, dim 1", [(64, 256, 256)], lambda t, nn, x: t.log_softmax(x, 1)),
)
NORMS = (
    *both("layer_norm 8192x1024", [ROWS, (1024,), (1024,)],
          lambda t, nn, x, w, b: nn.layer_norm(x, (1024,), w, b)),
    *both("batch_norm 32x64x56x56", [IMAGES, *PARAMETERS],
          lambda t, nn, x, w, b: nn.batch_norm(x, None, None, w, b, True)),
    *both("group_norm 32x64x56x56, 8", [IMAGES, *PARAMETERS],
          lambda t, nn, x, w, b: nn.group_norm(x, 8, w, b)),
)  # fmt: skip

# ---- reductions, order --------------------------------------------------------------------------

SQUARE = (3162, 3162)
REDUCTIONS = (
    forward("sum 10M", SQUARE, lambda t, nn, x: x.sum()),
    forward("sum, last dim", SQUARE, lambda t, nn, x: x.sum(-1)),
    forward("sum, first dim", SQUARE, lambda t, nn, x: x.sum(0)),
    forward("sum int64", (1000, 1000), lambda t, nn, x: x.sum(), 100),
    forward("mean 10M", SQUARE, lambda t, nn, x: x.mean()),
    forward("mean, first dim", SQUARE, lambda t, nn, x: x.mean(0)),
    forward("var, last dim", SQUARE, lambda t, nn, x: x.var(-1)),
    forward("amax", SQUARE, lambda t, nn, x: x.amax()),
    forward("amax, first dim", SQUARE, lambda t, nn, x: x.amax(0)),
    forward("max(-1)", SQUARE, lambda t, nn, x: x.max(-1)),
    forward("max(0)", SQUARE, lambda t, nn, x: x.max(0)),
    forward("argmax 10M", SQUARE, lambda t, nn, x: x.argmax()),
    forward("cumsum, last dim", (1000, 1000), lambda t, nn, x: x.cumsum(-1)),
    forward("cumsum, first dim", (1000, 1000), lambda t, nn, x: x.cumsum(0)),
)
ORDER = (
    forward("sort 1M", (1_000_000,), lambda t, nn, x: x.sort()),
    forward("sort 1000x1000", (1000, 1000), lambda t, nn, x: x.sort(-1)),
    forward("sort 1000x1000, first dim", (1000, 1000), lambda t, nn, x: x.sort(0)),
    forward("sort 1M int64", (1_000_000,), lambda t, nn, x: x.sort(), 1 << 40),
    forward("topk 100 of 1M", (1_000_000,), lambda t, nn, x: x.topk(100)),
    forward("topk 10 of 1000x1000", (1000, 1000), lambda t, nn, x: x.topk(10)),
)

# ---- positions ----------------------------------------------------------------------------------


def picking(name: str, rows: Any, count: Any, pick: Callable[..., Any]) -> Case:
    """A call ``pick(torch, x, i, values)`` with positions ``i`` in the first dimension of ``x``."""

    def make(torch: Any, nn: Any) -> Call:
        x = torch.randn(*rows)
        i = torch.randint(0, rows[0], count)
        values = torch.randn(*count, *rows[1:]) if len(count) < len(rows) else torch.randn(*count)
        return lambda: pick(torch, x, i, values)

    return given(name, make)


def embedding_backward(torch: Any, nn: Any) -> Call:
    """Gradient of a table of 30,000 rows for 4096 words."""
    table = torch.randn(30_000, 256).requires_grad_()
    words = torch.randint(0, 30_000, (32, 128))
    out = nn.embedding(words, table)
    g = torch.randn(*out.shape)
    return lambda: torch.autograd.grad(out, table, g, retain_graph=True)


MILLION = (1_000_000,)
POSITIONS = (
    picking("index_select 100k rows of 64", (100_000, 64), (100_000,),
            lambda t, x, i, v: x.index_select(0, i)),
    picking("gather 1M", MILLION, MILLION, lambda t, x, i, v: x.gather(0, i)),
    picking("gather 1000x1000", (1000, 1000), (1000, 1000), lambda t, x, i, v: x.gather(1, i)),
    picking("index 1M", MILLION, MILLION, lambda t, x, i, v: x[i]),
    picking("scatter_add 1M", MILLION, MILLION, lambda t, x, i, v: x.scatter_add(0, i, v)),
    picking("scatter_add 1000x1000", (1000, 1000), (1000, 1000),
            lambda t, x, i, v: x.scatter_add(0, i, v)),
    picking("index_add 100k rows of 64", (10_000, 64), (100_000,),
            lambda t, x, i, v: x.index_add(0, i, v)),
    picking("index_put, accumulate 1M", MILLION, MILLION,
            lambda t, x, i, v: x.index_put((i,), v, True)),
    given("embedding, backward", embedding_backward),
)  # fmt: skip

# ---- images -------------------------------------------------------------------------------------


IMAGE = [(8, 64, 112, 112)]
POOLING = (
    *both("max_pool2d 3, stride 2", IMAGE, lambda t, nn, x: nn.max_pool2d(x, 3, 2, 1)),
    *both("avg_pool2d 2", IMAGE, lambda t, nn, x: nn.avg_pool2d(x, 2)),
    *both("adaptive_avg_pool2d 1", IMAGE, lambda t, nn, x: nn.adaptive_avg_pool2d(x, 1)),
    *both(
        "nearest, scale 2", [(8, 64, 56, 56)], lambda t, nn, x: nn.interpolate(x, scale_factor=2.0)
    ),
    *both("reflection pad 2", IMAGE, lambda t, nn, x: nn.pad(x, (2, 2, 2, 2), "reflect")),
)

GROUPS = {
    "products": PRODUCTS,
    "conv2d": CONVOLUTIONS,
    "softmax": SOFTMAX,
    "norms": NORMS,
    "reductions": REDUCTIONS,
    "order": ORDER,
    "positions": POSITIONS,
    "pooling": POOLING,
}
