"""Every architecture of transformers that can be made small by a rule: what its base model computes.

python architectures.py > architectures.json     where PyTorch is installed: the numbers to compare with

A configuration is made with its defaults, its sizes are cut, and the model is played once, with gradients.
What the rule does not fit (sizes that no longer go together) is left out when the numbers are recorded.
"""

import inspect
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

WIDTH = (
    "hidden_size d_model n_embd dim encoder_hidden_size",
    "intermediate_size n_inner hidden_dim d_ff encoder_ffn_dim decoder_ffn_dim ffn_dim mlp_dim "
    "ffn_hidden_size",
    "n_layer n_layers num_layers num_hidden_layers encoder_layers decoder_layers num_encoder_layers "
    "num_decoder_layers type_vocab_size num_key_value_heads",
    "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads "
    "num_experts num_local_experts n_routed_experts",
    "head_dim d_kv state_size num_mel_bins patch_size",
    "embedding_size projection_dim moe_intermediate_size shared_expert_intermediate_size q_lora_rank "
    "kv_lora_rank",
    "max_position_embeddings n_positions",
    "image_size max_source_positions max_target_positions",
)
SIZES = {
    name: size
    for size, names in zip((32, 48, 2, 4, 8, 16, 64, 32), WIDTH, strict=True)
    for name in names.split()
}
SIZES |= {"vocab_size": 99, "num_queries": 5}
TOKENS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "decoder_start_token_id": 1}
PER_LAYER = ("mlp_layer_types", "block_types", "layers_block_type", "attention_layers")
LARGEST = 1_000_000  # parameters


def cut(configuration):
    """Make a configuration, and those inside it, small."""
    for name, value in list(vars(configuration).items()):
        if isinstance(value, transformers.PretrainedConfig):
            cut(value)
        elif type(value) is int and name in SIZES:
            setattr(configuration, name, min(value, SIZES[name]))
        elif type(value) is int and name in TOKENS and value >= SIZES["vocab_size"]:
            setattr(configuration, name, TOKENS[name])
        elif name in PER_LAYER and isinstance(value, list):
            setattr(configuration, name, value[:2])
        elif name == "layer_types" and isinstance(value, list):
            other = [each for each in value if each != value[0]][:1]
            setattr(configuration, name, (value[:1] + other if other else value[:2]))
    return configuration


def inputs(model, configuration):
    """What the base model takes, from a seed."""
    source = torch.Generator().manual_seed(1)
    taken = inspect.signature(model.forward).parameters
    wanted = getattr(model, "main_input_name", "input_ids")
    ids = torch.randint(3, 90, (2, 10), generator=source)
    given = {}
    if "input_ids" in taken:
        given["input_ids"] = ids
        if "attention_mask" in taken:
            given["attention_mask"] = (torch.arange(10) < torch.tensor([[10], [8]])).long()
    if "decoder_input_ids" in taken:
        given["decoder_input_ids"] = ids[:, :5].contiguous()
    if wanted == "pixel_values":
        channels = getattr(configuration, "num_channels", 3) or 3
        size = getattr(configuration, "image_size", 32) or 32
        size = size if isinstance(size, int) else size[0]
        given["pixel_values"] = torch.randn(
            2, channels, max(size, 32), max(size, 32), generator=source
        )
    if wanted == "input_features":
        bands = getattr(configuration, "num_mel_bins", 8) or 8
        given["input_features"] = torch.randn(2, bands, 64, generator=source)
    if wanted == "input_values":
        given["input_values"] = torch.randn(2, 1600, generator=source)
    return given


def tensors(value):
    """The floating-point tensors in what a model gives."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield value
    elif hasattr(value, "values"):
        for each in value.values():
            yield from tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each)


def played(name):
    """The mean magnitude of each result, and how many parameters have a gradient."""
    kind = CONFIG_MAPPING[name]
    configuration = kind.from_dict(cut(kind()).to_dict())
    with torch.device("meta"):
        made = transformers.AutoModel.from_config(configuration)
    if sum(p.numel() for p in made.parameters()) > LARGEST:
        raise ValueError(f"{name} is still too large")
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(configuration).train()
    torch.manual_seed(2)
    found = list(tensors(model(**inputs(model, configuration))))
    sum(each.float().pow(2).mean() for each in found if each.requires_grad).backward()
    graded = sum(p.grad is not None for p in model.parameters())
    return [each.detach().double().abs().mean().item() for each in found[:8]], graded


def main():
    """Record what can be played."""
    found = {}
    for name in sorted(CONFIG_MAPPING):
        try:
            results, graded = played(name)
            if results and all(value == value for value in results):
                found[name] = [results, graded]
        except Exception as error:  # noqa: BLE001 (whatever the rule does not fit)
            print(name, type(error).__name__, file=sys.stderr)
    versions = {"torch": str(torch.__version__), "transformers": transformers.__version__}
    json.dump({**versions, "models": found}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
