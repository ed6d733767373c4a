"""Tiny models of transformers, and what a step of training and generation give from one seed.

python tiny_models.py > recorded.json     where PyTorch is installed: the numbers to compare with
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
import transformers

SIZES = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48,
}  # fmt: skip
POSITIONS = {"max_position_embeddings": 64}
DECODER = {**SIZES, "num_key_value_heads": 2, "pad_token_id": 0}
PICTURE = {**SIZES, "image_size": 16, "patch_size": 4}
PICTURE.pop("vocab_size")
PAIR = {
    "vocab_size": 64, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}  # fmt: skip

# The model's class, how it is used, and its configuration, whose class follows from the model's name.
MODELS = {
    "GPT2LMHeadModel": ("GPT2Config", "text", {
        "vocab_size": 64, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "bos_token_id": 0, "eos_token_id": 0}),
    "LlamaForCausalLM": ("LlamaConfig", "text", {**DECODER, **POSITIONS}),
    "MistralForCausalLM": ("MistralConfig", "text", {**DECODER, "sliding_window": 8}),
    "Qwen2ForCausalLM": ("Qwen2Config", "text", DECODER),
    "GemmaForCausalLM": ("GemmaConfig", "text", {**DECODER, "head_dim": 8}),
    "OPTForCausalLM": ("OPTConfig", "text", {
        **SIZES, **POSITIONS, "ffn_dim": 48, "word_embed_proj_dim": 32, "pad_token_id": 1}),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", "text", {**SIZES, **POSITIONS}),
    "BloomForCausalLM": ("BloomConfig", "text", {
        "vocab_size": 64, "hidden_size": 32, "n_layer": 2, "n_head": 4, "pad_token_id": 0}),
    "FalconForCausalLM": ("FalconConfig", "text", {
        "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "pad_token_id": 0}),
    "MambaForCausalLM": ("MambaConfig", "text", {
        "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8,
        "pad_token_id": 0}),
    "MixtralForCausalLM": ("MixtralConfig", "text", {**DECODER, "num_local_experts": 4}),
    "PhiForCausalLM": ("PhiConfig", "text", {**SIZES, "pad_token_id": 0}),
    "BertForMaskedLM": ("BertConfig", "masked", {**SIZES, **POSITIONS}),
    "RobertaForMaskedLM": ("RobertaConfig", "masked", {**SIZES, **POSITIONS}),
    "DistilBertForMaskedLM": ("DistilBertConfig", "masked", {
        "vocab_size": 64, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, **POSITIONS}),
    "ElectraForMaskedLM": ("ElectraConfig", "masked", {**SIZES, **POSITIONS, "embedding_size": 16}),
    "DebertaV2ForMaskedLM": ("DebertaV2Config", "masked", {
        **SIZES, **POSITIONS, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
    "T5ForConditionalGeneration": ("T5Config", "pair", {
        "vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
        "decoder_start_token_id": 0}),
    "BartForConditionalGeneration": ("BartConfig", "pair", {**PAIR, **POSITIONS}),
    "ViTForImageClassification": ("ViTConfig", "picture", {**PICTURE, "num_labels": 5}),
    "ResNetForImageClassification": ("ResNetConfig", "picture", {
        "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_labels": 5}),
    "ConvNextForImageClassification": ("ConvNextConfig", "picture", {
        "hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2, "num_labels": 5}),
    "SwinForImageClassification": ("SwinConfig", "picture", {
        "image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2],
        "window_size": 4, "num_labels": 5}),
    "CLIPModel": ("CLIPConfig", "both", {
        "text_config": {**SIZES, **POSITIONS, "projection_dim": 16}, "vision_config": PICTURE,
        "projection_dim": 16}),
    "WhisperForConditionalGeneration": ("WhisperConfig", "sound", {
        **PAIR, "num_mel_bins": 8, "max_source_positions": 16, "max_target_positions": 32,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3,
        "begin_suppress_tokens": None}),
    "Wav2Vec2ForCTC": ("Wav2Vec2Config", "wave", {
        **SIZES, "vocab_size": 16, "conv_dim": [16, 16], "conv_kernel": [10, 3],
        "conv_stride": [5, 2], "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
        "num_conv_pos_embedding_groups": 2, "mask_time_prob": 0.0}),
}  # fmt: skip
GENERATIONS = (
    {"do_sample": False},
    {"do_sample": True, "top_k": 10},
    {"num_beams": 3, "do_sample": False},
    {"do_sample": False, "use_cache": False},
)


def inputs(kind):
    """What a model is given, labels included."""
    torch.manual_seed(1)
    ids = torch.randint(3, 64, (2, 12))
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0
    source = torch.Generator().manual_seed(3)
    picture = torch.randn(2, 3, 16, 16, generator=source)
    text = {"input_ids": ids, "attention_mask": mask}
    start = ids[:, :7].contiguous()
    return {
        "text": {**text, "labels": ids},
        "masked": {**text, "labels": ids},
        "pair": {**text, "labels": start},
        "picture": {"pixel_values": picture, "labels": torch.tensor([1, 3])},
        "both": {**text, "pixel_values": picture, "return_loss": True},
        "sound": {"input_features": torch.randn(2, 8, 32, generator=source), "labels": start},
        "wave": {
            "input_values": torch.randn(2, 400, generator=source), "labels": torch.arange(1, 11).reshape(2, 5),
        },
    }[kind]  # fmt: skip


def played(name):
    """Loss, norm of the gradients, loss after a step of AdamW; then the tokens of each generation."""
    configuration, kind, options = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, name)(getattr(transformers, configuration)(**options))
    model.train(kind in ("text", "masked", "pair", "picture"))
    given = inputs(kind)

    def loss():
        torch.manual_seed(2)
        return model(**given).loss

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    first = loss()
    first.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    model.eval()
    numbers = [first.item(), norm.item(), loss().item()]
    tokens = []
    if kind in ("text", "pair"):
        length = 5 if kind == "text" else 12
        prompt = {k: given[k][:, :length] for k in ("input_ids", "attention_mask")}
        for options in GENERATIONS:
            torch.manual_seed(5)
            tokens.append(model.generate(**prompt, max_new_tokens=6, **options).tolist())
    return {"numbers": numbers, "tokens": tokens}


if __name__ == "__main__":
    versions = {"torch": str(torch.__version__), "transformers": transformers.__version__}
    json.dump({**versions, "models": {n: played(n) for n in MODELS}}, sys.stdout)
    print()
