from calling import TORCH, Out, fault, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

NUM12 = dtypes("NUM12")
IDX = dtypes("IDX")
NO_PADDING = 2**64 - 1


def test_embedding() -> None:
    for dtype in NUM12:
        table = sample(dtype, (6, 3))
        for index in IDX:
            for at in (torch.tensor([[0, 5], [2, 2]]), torch.tensor(4), torch.zeros(0, 2).long()):
                places = at.to(TORCH[index])
                right = table[at]
                with case(dtype, index, at.shape):
                    check("Embedding", [table, places, Out(dtype, right.shape)], right)
    table = torch.randn(6, 3)
    for bad in (6, -1):
        assert fault("Embedding", table, torch.tensor([bad]), Out("f32", [1, 3])) == CODES.AICORE
    at, out = torch.tensor([1, 2]), Out("f32", [2, 3])
    check_refusals("Embedding", [table, at, out], [["f32"], IDX, ["f32"]])
    assert refused("Embedding", table[0], at, out) == CODES.INVALID
    assert refused("Embedding", table, at, Out("f32", [3, 2])) == CODES.INVALID


def test_gradient() -> None:
    at = torch.tensor([[0, 5, 2], [2, 2, 1]])
    for dtype in dtypes("FLT3"):
        grad = sample(dtype, (2, 3, 4), special=False)
        for padding, scale in [(NO_PADDING, False), (2, False), (5, True)]:
            number = -1 if padding == NO_PADDING else padding
            right = torch.ops.aten.embedding_dense_backward(grad.double(), at, 6, number, scale)
            for index in dtypes("REAL9-bf16"):
                given = [grad, at.to(TORCH[index]), 6, padding, scale, Out(dtype, [6, 4])]
                with case(dtype, padding, index):
                    check("EmbeddingDenseBackward", given, right.to(grad.dtype))
    grad = torch.ones(1, 4)
    for bad in (6, -1):
        given = [grad, torch.tensor([bad]), 6, NO_PADDING, False, Out("f32", [6, 4])]
        assert fault("EmbeddingDenseBackward", *given) == CODES.AICORE
    given[1] = torch.tensor([0])
    allowed = [["f32"], dtypes("REAL10-bf16"), ["f32"]]
    check_refusals("EmbeddingDenseBackward", given, allowed)
    given[1] = torch.tensor([0, 1])
    assert refused("EmbeddingDenseBackward", *given) == CODES.INVALID


def test_one_hot() -> None:
    values = dtypes("f32 f16 i8 i32 i64 u8")
    labels = torch.tensor([[0, 4, 9], [2, 2, 1]])
    for dtype in values:
        on, off = (torch.tensor([v]).to(TORCH[dtype]) for v in (3, 1))
        for index in ("i32", "i64", "u8"):
            for axis in (-1, 0, 1):
                hot = (labels.unsqueeze(2) == torch.arange(5)) * 2 + 1
                right = hot if axis == -1 else hot.movedim(2, axis)
                given = [
                    strided(labels.to(TORCH[index])),
                    5,
                    on,
                    off,
                    axis,
                    Out(dtype, right.shape),
                ]
                with case(dtype, index, axis):
                    check("OneHot", given, right.to(TORCH[dtype]))
    one, out = torch.tensor([1.0]), Out("f32", [2, 3, 5])
    given = [labels, 5, one, one, -1, out]
    check_refusals("OneHot", given, [["i32", "i64", "u8"], ["f32"], ["f32"], ["f32"]])
    assert refused("OneHot", labels, 5, one, one, 3, out) == CODES.INVALID
    assert refused("OneHot", labels, -1, one, one, -1, out) == CODES.INVALID
    assert refused("OneHot", labels, 5, torch.ones(2), one, -1, out) == CODES.INVALID
    assert run("OneHot", labels, 0, one, one, -1, Out("f32", [2, 3, 0])).shape == (2, 3, 0)
