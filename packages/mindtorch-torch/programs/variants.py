"""Ways to use libraries of PyTorch's world, each a function that gives numbers from one seed.

python variants.py > variants.json     where PyTorch is installed: the numbers to compare with
"""

import json
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
import torch.nn.functional as F
import transformers
from torch import nn

CASES = {}


def case(function):
    """Have a function be one of the cases."""
    CASES[function.__name__] = function
    return function


def llama():
    """A model of two layers, the same every time."""
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=4, intermediate_size=48, max_position_embeddings=64, pad_token_id=0,
            bos_token_id=1, eos_token_id=2,
        )
    )  # fmt: skip


def t5():
    """A model of an encoder and a decoder."""
    torch.manual_seed(0)
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
            decoder_start_token_id=0,
        )
    )  # fmt: skip


class Rows(torch.utils.data.Dataset):
    """Sixteen rows of eight tokens."""

    def __len__(self):
        return 16

    def __getitem__(self, i):
        if i >= 16:
            raise IndexError(i)
        ids = torch.arange(8) % 60 + i % 4
        return {"input_ids": ids, "labels": ids}


def pairs():
    """Batches of four inputs and four targets."""
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randn(16, 2))
    return torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)


# ---- the Trainer ---------------------------------------------------------------------------------


def trained(callbacks=None, **given):
    """Losses of some steps, and the loss of an evaluation."""
    options = {
        "max_steps": 5, "per_device_train_batch_size": 4, "save_strategy": "no", "report_to": [],
        "disable_tqdm": True, "logging_steps": 1, "seed": 1, "learning_rate": 1e-2, "use_cpu": True,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(folder, **{**options, **given})
        trainer = transformers.Trainer(
            llama(), arguments, train_dataset=Rows(), eval_dataset=Rows(), callbacks=callbacks
        )
        trainer.train()
        losses = [line["loss"] for line in trainer.state.log_history if "loss" in line]
        return [*losses, trainer.evaluate()["eval_loss"]]


TRAINERS = {
    "plain": {},
    "smoothed": {"label_smoothing_factor": 0.1},
    "accumulated": {"gradient_accumulation_steps": 2},
    "recomputed": {"gradient_checkpointing": True},
    "recomputed_reentrant": {
        "gradient_checkpointing": True,
        "gradient_checkpointing_kwargs": {"use_reentrant": True},
    },
    "bf16": {"bf16": True},
    "sgd_cosine": {"optim": "sgd", "lr_scheduler_type": "cosine", "warmup_steps": 2},
    "adafactor": {"optim": "adafactor"},
    "clipped": {"max_grad_norm": 0.5, "weight_decay": 0.1},
    "noisy": {"neftune_noise_alpha": 5},
    "workers": {"dataloader_num_workers": 2},
}
for _name, _options in TRAINERS.items():
    CASES[f"trainer_{_name}"] = lambda options=_options: trained(**options)


@case
def trainer_stops_early():
    return trained(
        [transformers.EarlyStoppingCallback(2)], eval_strategy="steps", eval_steps=1,
        save_strategy="steps", save_steps=1, load_best_model_at_end=True, metric_for_best_model="loss",
    )  # fmt: skip


@case
def trainer_generates():
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.Seq2SeqTrainingArguments(
            folder, report_to=[], disable_tqdm=True, use_cpu=True, max_steps=3, logging_steps=1,
            predict_with_generate=True, generation_max_length=8, learning_rate=1e-2, save_strategy="no",
        )  # fmt: skip
        trainer = transformers.Seq2SeqTrainer(
            t5(), arguments, train_dataset=Rows(), eval_dataset=Rows()
        )
        trainer.train()
        losses = [line["loss"] for line in trainer.state.log_history if "loss" in line]
        return [*losses, *map(float, trainer.predict(Rows()).predictions[0])]


# ---- generate ------------------------------------------------------------------------------------

IDS = torch.arange(3, 9)[None].repeat(2, 1) + torch.tensor([[0], [7]])
MODES = {
    "tempered": {"do_sample": True, "temperature": 0.7, "top_p": 0.8},
    "typical": {"do_sample": True, "typical_p": 0.9},
    "min_p": {"do_sample": True, "min_p": 0.01},
    "eta": {"do_sample": True, "eta_cutoff": 1e-3},
    "several": {"do_sample": True, "num_return_sequences": 3},
    "beams_sampled": {"num_beams": 3, "do_sample": True},
    "beams_returned": {"num_beams": 4, "num_return_sequences": 2, "length_penalty": 0.5},
    "no_repetition": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
    "forbidden": {"bad_words_ids": [[5], [7, 8]], "suppress_tokens": [5]},
    "biased": {"sequence_bias": {(5,): 2.0}, "min_new_tokens": 3},
    "static": {"cache_implementation": "static"},
    "looked_up": {"prompt_lookup_num_tokens": 3},
    "guided": {"guidance_scale": 1.5},
}


def generated(model, **options):
    model.eval()
    ids = IDS[:1] if "prompt_lookup_num_tokens" in options else IDS
    torch.manual_seed(5)
    made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=7, **options)
    return made.flatten().tolist()


for _name, _options in MODES.items():
    CASES[f"generate_{_name}"] = lambda options=_options: generated(llama(), **options)


@case
def generate_assisted():
    model = llama()
    torch.manual_seed(3)
    helper = transformers.LlamaForCausalLM(model.config).eval()
    made = []
    for sampled in (False, True):
        torch.manual_seed(5)
        ids = model.eval().generate(
            IDS[:1], attention_mask=torch.ones_like(IDS[:1]), max_new_tokens=7,
            assistant_model=helper, do_sample=sampled,
        )  # fmt: skip
        made += ids.flatten().tolist()
    return made


@case
def generate_streamed_and_stopped():
    class Kept:
        def __init__(self):
            self.tokens = []

        def put(self, value):
            self.tokens += value.flatten().tolist()

        def end(self):
            self.tokens.append(-1)

    class Stop(transformers.StoppingCriteria):
        def __call__(self, ids, scores, **options):
            return torch.full((ids.shape[0],), ids.shape[1] >= 9)

    kept, ids = Kept(), IDS[:1]
    llama().eval().generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=7, streamer=kept, do_sample=False,
        stopping_criteria=[Stop()],
    )  # fmt: skip
    return kept.tokens


@case
def generate_from_an_encoder():
    model = t5()
    return [
        *generated(model),
        *generated(model, num_beams=3),
        *generated(model, do_sample=True),
    ]


# ---- peft ----------------------------------------------------------------------------------------

PEFT = {
    "lora": ("LoraConfig", {"r": 4}),
    "dora": ("LoraConfig", {"r": 4, "use_dora": True}),
    "pissa": ("LoraConfig", {"r": 4, "init_lora_weights": "pissa"}),
    "ia3": ("IA3Config", {"feedforward_modules": []}),
    "prefix": ("PrefixTuningConfig", {"num_virtual_tokens": 4}),
    "prompt": ("PromptTuningConfig", {"num_virtual_tokens": 4}),
    "adalora": ("AdaLoraConfig", {"init_r": 4, "target_r": 2, "total_step": 10, "tinit": 1, "tfinal": 2}),
    "loha": ("LoHaConfig", {"r": 4}),
    "lokr": ("LoKrConfig", {"r": 4}),
    "oft": ("OFTConfig", {"r": 4, "oft_block_size": 0}),
    "vera": ("VeraConfig", {"r": 4}),
    "fourier": ("FourierFTConfig", {"n_frequency": 10}),
}  # fmt: skip


def tuned(kind, options):
    """Losses of three steps, and the loss when the weights are merged or loaded again."""
    import peft

    if "Prefix" not in kind and "Prompt" not in kind:
        options = {**options, "target_modules": ["q_proj", "v_proj"]}
    configuration = getattr(peft, kind)(task_type="CAUSAL_LM", **options)
    base = llama()
    torch.manual_seed(1)
    model = peft.get_peft_model(base, configuration)
    learned = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=1e-2)
    losses = []
    for _ in range(3):
        loss = model(input_ids=IDS, labels=IDS).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        back = peft.PeftModel.from_pretrained(llama(), folder).eval()
    if "target_modules" in options:
        back = back.merge_and_unload()
    return [*losses, back(input_ids=IDS, labels=IDS).loss.item()]


for _name, (_kind, _options) in PEFT.items():
    CASES[f"peft_{_name}"] = lambda kind=_kind, options=_options: tuned(kind, options)


# ---- accelerate, Lightning -----------------------------------------------------------------------


@case
def accelerate_accumulates():
    import accelerate

    accelerate.state.AcceleratorState._reset_state(True)
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    model, optimizer, batches, schedule = accelerator.prepare(model, optimizer, pairs(), schedule)
    losses = []
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return [*losses, *schedule.get_last_lr()]


def fitted(callbacks=(), **options):
    """The loss of the last validation, and the number of epochs."""
    import lightning

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

        def training_step(self, batch, index):
            return F.mse_loss(self.layers(batch[0]), batch[1])

        def validation_step(self, batch, index):
            self.log("val", F.mse_loss(self.layers(batch[0]), batch[1]))

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
            return {
                "optimizer": optimizer,
                "lr_scheduler": {"scheduler": plateau, "monitor": "val"},
            }

    with tempfile.TemporaryDirectory() as folder:
        lightning.seed_everything(1, verbose=False)
        trainer = lightning.Trainer(
            max_epochs=4, accelerator="cpu", logger=False, enable_progress_bar=False,
            enable_model_summary=False, callbacks=[*callbacks], default_root_dir=folder, **options,
        )  # fmt: skip
        trainer.fit(Model(), pairs(), pairs())
        return [trainer.callback_metrics["val"].item(), trainer.current_epoch]


@case
def lightning_plain():
    return fitted()


@case
def lightning_accumulates_and_clips():
    return fitted(accumulate_grad_batches=2, gradient_clip_val=0.1)


@case
def lightning_double():
    return fitted(precision="64-true")


@case
def lightning_mixed():
    return fitted(precision="bf16-mixed")


@case
def lightning_stops_early():
    from lightning.pytorch import callbacks

    return fitted([callbacks.EarlyStopping("val", patience=1, min_delta=0.5)])


@case
def lightning_averages_weights():
    from lightning.pytorch import callbacks

    return fitted([callbacks.StochasticWeightAveraging(1e-2), callbacks.Timer()])


@case
def lightning_profiles():
    return fitted(profiler="pytorch", detect_anomaly=True)


@case
def fabric():
    import lightning

    one = lightning.Fabric(accelerator="cpu", devices=1)
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    model, optimizer = one.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
    losses = []
    for x, y in one.setup_dataloaders(pairs()):
        loss = F.mse_loss(model(x), y)
        one.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@case
def kornia_of_images():
    import kornia

    torch.manual_seed(0)
    x = torch.rand(1, 3, 12, 12, requires_grad=True)
    made = [
        kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0)),
        kornia.color.rgb_to_lab(x),
        kornia.geometry.rotate(x, torch.tensor([30.0])),
        kornia.morphology.dilation(x, torch.ones(3, 3)),
        kornia.filters.sobel(x),
        kornia.losses.ssim_loss(x, x * 0.9, 3),
    ]
    sum(each.mean() for each in made).backward()
    return [each.mean().item() for each in made] + [x.grad.norm().item()]


@case
def layers_of_graphs():
    import torch_geometric.nn as geometric
    from torch_geometric.data import Batch, Data

    torch.manual_seed(0)
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    x = torch.randn(4, 5, requires_grad=True)
    layers = [
        geometric.GCNConv(5, 3), geometric.GATConv(5, 3, heads=2), geometric.SAGEConv(5, 3),
        geometric.GINConv(nn.Linear(5, 3)), geometric.TransformerConv(5, 3),
    ]  # fmt: skip
    found = [layer(x, edges).square().mean() for layer in layers]
    batch = Batch.from_data_list([Data(x=x, edge_index=edges), Data(x=x * 2, edge_index=edges)])
    found.append(geometric.global_max_pool(batch.x, batch.batch).mean())
    sum(found).backward()
    return [each.item() for each in found] + [x.grad.norm().item()]


if __name__ == "__main__":
    sys.stdout, kept = sys.stderr, sys.stdout  # libraries print
    found = {name: play() for name, play in CASES.items()}
    sys.stdout = kept
    versions = {"torch": str(torch.__version__), "transformers": transformers.__version__}
    json.dump({**versions, "cases": found}, sys.stdout)
    print()
