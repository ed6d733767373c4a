"""What does not pass, with the reason; a check that is listed and passes is an error."""

REASONS = {
    "nn_CTCLoss": {
        "meta": "lengths on the meta device have no values, and they say what is computed"
    },
    "nn_FractionalMaxPool3d": {"bfloat16": "PyTorch computes places of windows in bfloat16"},
}


def reason_for(module, check):
    """Why a check does not pass; empty if it should."""
    return REASONS.get(module, {}).get(check, "")
