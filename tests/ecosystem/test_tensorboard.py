"""`torch.utils.tensorboard`: what is written is what TensorBoard reads."""

import importlib
import sys

import pytest

import mindtorch_core as torch


def test_without_the_package_it_says_so(monkeypatch):
    for name in [m for m in sys.modules if "tensorboard" in m]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="tensorboard"):
        importlib.import_module("mindtorch_core.utils.tensorboard")


@pytest.fixture
def writer(tmp_path):
    pytest.importorskip("tensorboard")
    from mindtorch_core.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as made:
        yield made


def values(folder):
    """What was written into a folder, by tag."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found = {}
    for file in sorted(folder.glob("events*")):
        for event in LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                found[value.tag] = event.step, value
    return found


def test_what_is_written(writer, tmp_path):
    writer.add_scalar("loss", torch.tensor(1.5), 3)
    writer.add_scalars("both", {"a": 1, "b": 2.0}, 4)
    writer.add_histogram("spread", torch.tensor([0.0, 0.0, 1.0]), 5)
    writer.add_image("grey", torch.ones(4, 5), dataformats="HW")
    writer.add_images("several", torch.zeros(9, 3, 4, 5))
    writer.add_text("words", "**x**")
    writer.add_audio("sound", torch.zeros(1, 8), sample_rate=8)
    writer.add_tensor("tensor", torch.arange(4).reshape(2, 2))
    writer.add_pr_curve("curve", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.9, 0.4]))
    writer.add_hparams({"lr": 0.1, "kind": "sgd"}, {"best": 2.0}, run_name="run")
    writer.add_embedding(torch.eye(2), metadata=["a", "b"], label_img=torch.ones(2, 3, 2, 2))
    writer.close()
    found = values(tmp_path)
    step, loss = found["loss"]
    assert (step, loss.simple_value) == (3, 1.5)
    assert values(tmp_path / "both_b")["both"][1].simple_value == 2.0
    spread = found["spread"][1].histo
    assert (spread.num, spread.sum, sum(spread.bucket)) == (3, 1, 3)
    assert len(spread.bucket) == len(spread.bucket_limit)
    grey, several = found["grey"][1].image, found["several"][1].image
    assert (grey.height, grey.width, grey.colorspace) == (4, 5, 3)
    assert (several.height, several.width) == (8, 40)
    assert grey.encoded_image_string.startswith(b"\x89PNG")
    assert found["words/text_summary"][1].tensor.string_val == [b"**x**"]
    assert found["sound"][1].audio.encoded_audio_string[8:12] == b"WAVE"
    assert list(found["tensor"][1].tensor.int64_val) == [0, 1, 2, 3]
    curve = found["curve"][1].tensor
    assert list(curve.float_val)[:2] == [2.0, 2.0]
    assert values(tmp_path / "run")["best"][1].simple_value == 2.0
    assert (tmp_path / "00000" / "default" / "tensors.tsv").read_text() == "1.0\t0.0\n0.0\t1.0\n"
    assert "tensors.tsv" in (tmp_path / "projector_config.pbtxt").read_text()


@pytest.mark.parametrize(("options", "size"), [({}, (6, 8)), ({"rescale": 2}, (12, 16))], ids=str)
def test_images_with_boxes_have_the_size_of_the_image(writer, tmp_path, options, size):
    pytest.importorskip("PIL")
    boxes = torch.tensor([[1.0, 1.0, 4.0, 4.0]])
    writer.add_image_with_boxes("framed", torch.ones(3, 6, 8), boxes, **options)
    writer.close()
    image = values(tmp_path)["framed"][1].image
    assert (image.height, image.width) == size


def test_what_is_refused(writer):
    with pytest.raises(NotImplementedError, match="graphs"):
        writer.add_graph(torch.nn.Linear(2, 2))
    with pytest.raises(AssertionError, match="one element"):
        writer.add_scalar("x", torch.ones(2))
    with pytest.raises(AssertionError, match="input_format"):
        writer.add_image("x", torch.ones(2), dataformats="CHW")
    with pytest.raises(TypeError, match="dictionary"):
        writer.add_hparams([], {})
    with pytest.raises(ValueError, match="no element"):
        writer.add_histogram("x", torch.ones(0))
    with pytest.raises(ValueError, match="histogram is empty"):
        writer.add_histogram("x", torch.ones(3), bins=[2.0, 3.0])
