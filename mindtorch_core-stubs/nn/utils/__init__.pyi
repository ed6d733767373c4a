"""`mindtorch_nn.utils` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.utils import (
    clip_grad_norm as clip_grad_norm,
    clip_grad_norm_ as clip_grad_norm_,
    clip_grad_value_ as clip_grad_value_,
    clip_grads_with_norm_ as clip_grads_with_norm_,
    convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format,
    fuse_conv_bn_eval as fuse_conv_bn_eval,
    fuse_conv_bn_weights as fuse_conv_bn_weights,
    fuse_linear_bn_eval as fuse_linear_bn_eval,
    fuse_linear_bn_weights as fuse_linear_bn_weights,
    get_total_norm as get_total_norm,
    parameters_to_vector as parameters_to_vector,
    remove_spectral_norm as remove_spectral_norm,
    remove_weight_norm as remove_weight_norm,
    skip_init as skip_init,
    spectral_norm as spectral_norm,
    vector_to_parameters as vector_to_parameters,
    weight_norm as weight_norm,
)
from mindtorch_core.nn.utils import (
    parametrizations as parametrizations,
    parametrize as parametrize,
    prune as prune,
    rnn as rnn,
    stateless as stateless,
)
