"""Libraries of PyTorch's world on mindtorch: they train, save and come back."""

import os

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)

os.environ["HF_HUB_OFFLINE"] = "1"
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def gpt2():
    transformers = pytest.importorskip("transformers")

    def make():
        torch.manual_seed(0)
        return transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=64,
                n_positions=64,
                n_embd=32,
                n_layer=2,
                n_head=4,
                bos_token_id=0,
                eos_token_id=0,
            )
        )

    return make


def loader():
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randn(16, 2))
    return torch.utils.data.DataLoader(data, batch_size=4)


def same(a, b):
    theirs = b.state_dict()
    return all((value == theirs[name]).all() for name, value in a.state_dict().items())


def test_save_and_from_pretrained(gpt2, tmp_path):
    model = gpt2()
    model.save_pretrained(tmp_path / "whole")
    assert same(model, type(model).from_pretrained(tmp_path / "whole"))
    model.to(torch.bfloat16).save_pretrained(tmp_path / "parts", max_shard_size="20KB")
    assert len(list((tmp_path / "parts").glob("*.safetensors"))) > 2
    back = type(model).from_pretrained(tmp_path / "parts", dtype="auto")
    assert back.dtype is torch.bfloat16
    assert same(model, back)


def test_trainer_and_resume(gpt2, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 16

        def __getitem__(self, i):
            ids = torch.arange(8) % 60 + i % 4
            return {"input_ids": ids, "labels": ids}

    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=6, per_device_train_batch_size=4, save_steps=3, report_to=[],
        disable_tqdm=True, logging_steps=2, seed=1, learning_rate=1e-2,
    )  # fmt: skip
    first = transformers.Trainer(gpt2(), arguments, train_dataset=Data())
    first.train()
    losses = [line["loss"] for line in first.state.log_history if "loss" in line]
    assert losses[-1] < losses[0]
    second = transformers.Trainer(gpt2(), arguments, train_dataset=Data())
    second.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert same(first.model, second.model)


def test_peft(gpt2, tmp_path):
    peft = pytest.importorskip("peft")
    wanted = peft.LoraConfig(r=4, target_modules=["c_attn"], task_type="CAUSAL_LM")
    model = peft.get_peft_model(gpt2(), wanted)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.randint(0, 64, (2, 9))
    losses = []
    for _ in range(5):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    model.save_pretrained(tmp_path)
    back = peft.PeftModel.from_pretrained(gpt2(), tmp_path).eval()
    model.eval()
    assert (back(ids).logits == model(ids).logits).all()
    assert torch.allclose(model.merge_and_unload()(ids).logits, back(ids).logits, atol=1e-5)


def test_accelerate(tmp_path):
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model, optimizer, batches = accelerator.prepare(model, optimizer, loader())
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    assert accelerator.gather(loss).item() == loss.item()
    accelerator.save_state(tmp_path)
    kept = model.weight.detach().clone()
    with torch.no_grad():
        model.weight.zero_()
    accelerator.load_state(tmp_path)
    assert (model.weight == kept).all()


def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def training_step(self, batch, index):
            x, y = batch
            loss = torch.nn.functional.mse_loss(self.layer(x), y)
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    def fit(model, epochs, **options):
        trainer = lightning.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False,
            default_root_dir=tmp_path, enable_checkpointing=False,
        )  # fmt: skip
        trainer.fit(model, loader(), **options)
        return trainer

    torch.manual_seed(0)
    start = Model()
    state = {k: v.clone() for k, v in start.state_dict().items()}
    fit(start, 2).save_checkpoint(tmp_path / "kept.ckpt")
    resumed, whole = Model(), Model()
    fit(resumed, 3, ckpt_path=tmp_path / "kept.ckpt")
    whole.load_state_dict(state)
    fit(whole, 3)
    assert same(resumed, whole)


@pytest.mark.parametrize(
    "name",
    ["resnet18", "vit_tiny_patch16_224", "convnext_atto", "efficientnet_b0", "mobilenetv3_small_050",
     "regnetx_002", "densenet121", "deit_tiny_patch16_224"],
)  # fmt: skip
def test_timm_models(name):
    timm = pytest.importorskip("timm")
    options = {"img_size": 32} if "vit" in name or "deit" in name else {}
    model = timm.create_model(name, num_classes=3, **options)
    model(torch.randn(2, 3, 32, 32)).pow(2).mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize(
    "name",
    [
        "sgd",
        "adamw",
        "lamb",
        "lion",
        "adafactor",
        "radam",
        "nadamw",
        "rmsproptf",
        "madgrad",
        "adan",
    ],
)
def test_timm_optimizers(name):
    optim = pytest.importorskip("timm.optim")
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 4)
    optimizer = optim.create_optimizer_v2(layer, opt=name, lr=0.01)
    losses = []
    for _ in range(10):
        loss = layer(torch.ones(2, 4)).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_torchvision():
    torchvision = pytest.importorskip("torchvision")
    torch.manual_seed(0)
    model = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=64
    )
    box = {"boxes": torch.tensor([[5.0, 5, 30, 40]]), "labels": torch.tensor([1])}
    losses = model([torch.rand(3, 64, 64)], [box])
    sum(losses.values()).backward()
    assert all(value.isfinite() for value in losses.values())
    found = model.eval()([torch.rand(3, 64, 64)])[0]
    assert found["boxes"].shape[1] == 4


def test_torchmetrics():
    metrics = pytest.importorskip("torchmetrics.classification")
    accuracy = metrics.MulticlassAccuracy(num_classes=3, average="micro")
    accuracy(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
    accuracy(torch.tensor([0, 0]), torch.tensor([0, 1]))
    assert accuracy.compute().item() == pytest.approx(4 / 6)
    matrix = metrics.MulticlassConfusionMatrix(num_classes=2)
    assert matrix(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0])).tolist() == [[1, 1], [0, 1]]


def test_einops():
    einops = pytest.importorskip("einops")
    layers = pytest.importorskip("einops.layers.torch")
    x = torch.arange(96.0).reshape(2, 3, 4, 4).requires_grad_()
    folded = einops.rearrange(x, "b c (h p) w -> b (h w) (p c)", p=2)
    assert folded[1, 5, 4].item() == x[1, 1, 3, 1].item()
    einops.reduce(x, "b c h w -> b c", "mean").sum().backward()
    assert torch.allclose(x.grad, torch.full_like(x, 1 / 16))
    mixed = layers.EinMix("b c h w -> b d h w", weight_shape="c d", c=3, d=5)(x)
    assert mixed.shape == (2, 5, 4, 4)


def test_safetensors(tmp_path):
    files = pytest.importorskip("safetensors.torch")
    files.save_file(
        {"a": torch.arange(4.0), "b": torch.ones(2, dtype=torch.bfloat16)}, tmp_path / "x"
    )
    back = files.load_file(tmp_path / "x")
    assert back["a"].tolist() == [0, 1, 2, 3]
    assert back["b"].dtype is torch.bfloat16
