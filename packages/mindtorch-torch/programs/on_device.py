"""What a step of training gives on a GPU, or what stands for one, and on the CPU.

python on_device.py MODEL... prints both as JSON. Programs for GPUs ask as this one does.
"""

import json
import sys

import tiny_models
import torch
import transformers


def played(name, device):
    """Loss, norm of gradients, loss after a step, and the tokens of `generate`."""
    configuration, kind, options = tiny_models.MODELS[name]
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    model = getattr(transformers, name)(getattr(transformers, configuration)(**options)).to(device)
    model.eval()  # random numbers of devices differ
    given = tiny_models.inputs(kind)
    given = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in given.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    first = model(**given).loss
    first.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    numbers = [first.item(), norm.item(), model(**given).loss.item()]
    if kind in ("text", "pair"):
        prompt = {k: given[k][:, :5] for k in ("input_ids", "attention_mask")}
        made = model.generate(**prompt, max_new_tokens=6, do_sample=False)
        numbers += made.flatten().tolist()
    return numbers


if __name__ == "__main__":
    assert torch.cuda.is_available()
    device = torch.device("cuda")
    used = torch.ones(1, device=device).device.type
    found = {name: [played(name, device), played(name, "cpu")] for name in sys.argv[1:]}
    print(json.dumps({"device": used, "models": found}))
