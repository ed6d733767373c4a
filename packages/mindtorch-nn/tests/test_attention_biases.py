"""Causal biases hide what comes later, for every pair of lengths."""

import pytest

import mindtorch_core as torch
from mindtorch_core.nn.attention.bias import (
    CausalBias,
    CausalVariant,
    causal_lower_right,
    causal_upper_left,
)

F = torch.nn.functional
NAN = "ignore:Lower right causal bias will produce NaNs"


def test_variants_are_pytorchs_numbers():
    assert [(v.name, int(v)) for v in CausalVariant] == [("UPPER_LEFT", 1), ("LOWER_RIGHT", 2)]


@pytest.mark.filterwarnings(NAN)
@pytest.mark.parametrize("lengths", [(1, 1), (1, 4), (3, 3), (2, 5), (5, 2), (4, 3)])
def test_attention_sees_what_the_mask_shows(lengths):
    """The first query sees the first key, or the last one the last."""
    queries, keys = lengths
    for make, later in ((causal_upper_left, 0), (causal_lower_right, keys - queries)):
        bias = make(queries, keys)
        seen = torch.tensor([[j <= i + later for j in range(keys)] for i in range(queries)])
        assert repr(bias) == repr(seen)
        q, k, v = (torch.randn(1, 2, n, 4) for n in (queries, keys, keys))
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=0.7)
        scores = (q @ k.mT * 0.7).masked_fill(~seen, float("-inf"))
        hidden = ~seen.any(1, keepdim=True)  # such a query has no answer
        wanted = scores.softmax(-1).masked_fill(hidden, 0.0) @ v
        torch.testing.assert_close(found.masked_fill(found.isnan(), 0.0), wanted)


@pytest.mark.parametrize("lengths", [(2, 2), (2, 3), (3, 2)])
def test_only_what_gives_nan_is_warned_of(lengths):
    """A lower right bias of more queries than keys."""
    causal_upper_left(*lengths)  # a warning is an error here
    if lengths == (3, 2):
        with pytest.warns(UserWarning, match="will produce NaNs in the output when seq_len_q >"):
            causal_lower_right(*lengths)
    else:
        causal_lower_right(*lengths)


def test_all_but_a_second_mask_is_taken_with_a_bias():
    q = torch.randn(1, 4, 3, 4)
    k = torch.randn(1, 2, 5, 4)
    bias = CausalBias(CausalVariant.LOWER_RIGHT, 3, 5)
    with pytest.raises(ValueError, match="should not be used with causal=True"):
        F.scaled_dot_product_attention(q, k, k, bias, is_causal=True)
    found = F.scaled_dot_product_attention(q, k, k, bias, enable_gqa=True)
    twice = k.repeat_interleave(2, dim=1)
    torch.testing.assert_close(found, F.scaled_dot_product_attention(q, twice, twice, bias))
    dropped = F.scaled_dot_product_attention(torch.ones(1, 4, 3, 4), twice, twice, bias, 1.0)
    assert not dropped.any()
