"""diffusers, sentence-transformers and trl on mindtorch: small models learn, sample and come back."""

import os

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)

os.environ["HF_HUB_OFFLINE"] = "1"
pytestmark = pytest.mark.filterwarnings("ignore")
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[EOS]",
    "a",
    "cat",
    "dog",
    "sat",
    "on",
    "the",
    "mat",
    "runs",
    "fast",
]


def test_diffusion():
    """What PyTorch 2.13 gives from the same seeds."""
    diffusers = pytest.importorskip("diffusers")
    torch.manual_seed(0)
    model = diffusers.UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
        norm_num_groups=4, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = diffusers.DDPMScheduler(num_train_timesteps=50)
    losses = []
    for _ in range(3):
        x = torch.randn(2, 1, 8, 8)
        noise, steps = torch.randn_like(x), torch.randint(0, 50, (2,))
        found = model(schedule.add_noise(x, noise, steps), steps).sample
        loss = torch.nn.functional.mse_loss(found, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses == pytest.approx([1.2231658, 1.0734405, 1.1050154], rel=1e-5)
    model.eval()
    wanted = {"DDPMScheduler": (0.6795999, -0.9878718), "DDIMScheduler": (0.6340093, -0.6653961)}
    for name, numbers in wanted.items():
        schedule = getattr(diffusers, name)(num_train_timesteps=50)
        schedule.set_timesteps(5)
        generator = torch.Generator().manual_seed(1)
        x = torch.randn(1, 1, 8, 8, generator=generator)
        with torch.no_grad():
            for t in schedule.timesteps:
                x = schedule.step(model(x, t).sample, t, x, generator=generator).prev_sample
        assert (x.abs().mean().item(), x.flatten()[5].item()) == pytest.approx(numbers, abs=1e-4)


def test_sentences(tmp_path):
    sentences = pytest.importorskip("sentence_transformers")
    parts = pytest.importorskip("sentence_transformers.models")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    tokenizer = transformers.BertTokenizerFast(vocab={w: i for i, w in enumerate(WORDS)})
    tokenizer.save_pretrained(tmp_path / "bert")
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    bert = parts.Transformer(str(tmp_path / "bert"), max_seq_length=16)
    model = sentences.SentenceTransformer(modules=[bert, parts.Pooling(16)], device="cpu")
    texts = ["the cat sat on the mat", "the dog runs fast", "a cat"]
    found = model.encode(texts, convert_to_tensor=True, show_progress_bar=False)
    similar = model.similarity(found, found)
    assert torch.allclose(similar.diagonal(), torch.ones(3))
    assert torch.allclose(similar, similar.T)
    assert similar[0, 1] < 1
    alone = torch.stack([model.encode(t, convert_to_tensor=True) for t in texts])
    assert torch.allclose(alone, found, atol=1e-5)
    model.save(str(tmp_path / "all"))
    back = sentences.SentenceTransformer(str(tmp_path / "all"), device="cpu")
    assert (back.encode(texts) == model.encode(texts)).all()


def test_supervised_tuning(tmp_path):
    trl = pytest.importorskip("trl")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    datasets = pytest.importorskip("datasets")
    torch.manual_seed(0)
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]"
    )
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=5, eos_token_id=5, pad_token_id=0,
    )  # fmt: skip
    texts = ["the cat sat on the mat", "a dog runs fast", "the dog sat"] * 8
    trainer = trl.SFTTrainer(
        model=transformers.GPT2LMHeadModel(config),
        args=trl.SFTConfig(
            str(tmp_path), max_steps=8, per_device_train_batch_size=3, logging_steps=1, report_to=[],
            disable_tqdm=True, use_cpu=True, learning_rate=3e-2, max_length=16, bf16=False, seed=0,
        ),
        train_dataset=datasets.Dataset.from_dict({"text": texts}),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.train()
    losses = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    assert losses[-1] < losses[0] - 0.2
