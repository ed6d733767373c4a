// Convolutions in one to three spatial dims, transposed ones, and their gradients.
#include "../convolving.h"
#include "../formats.h"
#include "../moving.h"
#include "../products.h"
#include "../sizes.h"

using namespace sim;

namespace {

// The lists of a convolution, with a value for each spatial dim.
struct Settings {
  Dims stride, before, after, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

Dims per_dim(Call &call, const aclIntArray *array, const char *name, size_t spatial,
             int64_t least) {
  const Dims values = call.ints(array, name);
  call.require(values.size() == spatial,
               std::string(name) + " must have " + std::to_string(spatial) + " elements");
  for (const int64_t value : values) {
    call.require(value >= least, std::string(name) + " has an element that is too small");
    size_is_possible(call, value, std::string("an element of ") + name);
  }
  return values;
}

Settings settings_of(Call &call, const Operand &weight, const aclIntArray *stride,
                     const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
                     const aclIntArray *output_padding, int64_t groups) {
  call.require(weight.dim() >= 3, "weight must have 3, 4 or 5 dimensions");
  const size_t spatial = weight.shape().size() - 2;
  Settings s;
  s.stride = per_dim(call, stride, "stride", spatial, 1);
  s.dilation = per_dim(call, dilation, "dilation", spatial, 1);
  const Dims pads = call.ints(padding, "padding");
  const bool pairs = spatial < 3 && pads.size() == 2 * spatial;
  call.require(pairs || pads.size() == spatial,
               "padding must have one element a spatial dim, or two in 1-d and 2-d");
  for (size_t d = 0; d < spatial; ++d) {
    s.before.push_back(pads[pairs ? 2 * d : d]);
    s.after.push_back(pads[pairs ? 2 * d + 1 : d]);
    call.require(s.before[d] >= 0 && s.after[d] >= 0, "padding has a negative element");
    for (const int64_t pad : {s.before[d], s.after[d]})
      size_is_possible(call, pad, "an element of padding");
  }
  s.output_padding =
      transposed ? per_dim(call, output_padding, "outputPadding", spatial, 0) : Dims(spatial, 0);
  call.require(groups > 0, "groups is not positive");
  size_is_possible(call, groups, "groups");
  s.transposed = transposed;
  s.groups = groups;
  return s;
}

// The sizes of the convolution of an input and a weight; also gives the output's shape.
Convolution convolution_of(Call &call, const Operand &input, const Operand &weight,
                           const Settings &s, Dims &output) {
  const Dims &x = input.shape(), &w = weight.shape();
  call.require(x.size() >= 3 && x.size() <= 5 && x.size() == w.size(),
               "input and weight must both have 3, 4 or 5 dimensions");
  check_image_format(call, input);
  check_image_format(call, weight);
  Convolution c;
  c.batch = x[0];
  c.groups = s.groups;
  c.y_channels = w[0];
  c.x_channels = w[1] * s.groups;
  call.require(w[0] % s.groups == 0, "the weight's channels are not divisible by groups");
  call.require(x[1] == (s.transposed ? c.y_channels : c.x_channels),
               "the channels of input and weight do not fit together");
  output = {x[0], s.transposed ? c.x_channels : c.y_channels};
  const size_t spatial = x.size() - 2, lead = 3 - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t in = x[d + 2], reach = s.dilation[d] * (w[d + 2] - 1) + 1,
                  pads = s.before[d] + s.after[d];
    const int64_t out = s.transposed ? (in - 1) * s.stride[d] - pads + reach + s.output_padding[d]
                                     : (in + pads - reach) / s.stride[d] + 1;
    call.require(w[d + 2] > 0 && out > 0 && (s.transposed || in + pads >= reach),
                 "the kernel is larger than the padded input");
    c.kernel[lead + d] = w[d + 2];
    c.stride[lead + d] = s.stride[d];
    c.padding[lead + d] = s.before[d];
    c.dilation[lead + d] = s.dilation[d];
    c.x[lead + d] = s.transposed ? out : in;
    c.y[lead + d] = s.transposed ? in : out;
    output.push_back(out);
  }
  return c;
}

std::vector<float> cube_input(const View &view, int8_t cube) {
  std::vector<float> values = gathered<float>(view);
  round_for_cube(values, cube);
  return values;
}

// Adds a bias to every place of its channel.
void add_bias(std::vector<float> &values, const std::vector<float> &bias, int64_t inner) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] += bias[i / static_cast<size_t>(inner) % bias.size()];
  }
}

std::vector<double> channel_sums(const std::vector<float> &values, int64_t channels,
                                 int64_t inner) {
  std::vector<double> sums(static_cast<size_t>(channels), 0.0);
  for (size_t i = 0; i < values.size(); ++i)
    sums[i / static_cast<size_t>(inner) % sums.size()] += values[i];
  return sums;
}

uint64_t patch_bytes(const Convolution &c) {
  return static_cast<uint64_t>(c.patch() * c.y_size()) * sizeof(float);
}

int64_t spatial_size(const Dims &shape) { return numel({shape.begin() + 2, shape.end()}); }

}  // namespace

ACLNN(Convolution,
      (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
       const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
       bool transposed, const aclIntArray *outputPadding, int64_t groups, aclTensor *output,
       int8_t cubeMathType),
      (input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups, output,
       cubeMathType)) {
  const Operand x = call.in(input, "input", FLT3), w = call.in(weight, "weight", FLT3);
  const Operand b = call.optional(bias, "bias", FLT3), to = call.out(output, "output", FLT3);
  call.require(is_cube_math_type(cubeMathType), "cubeMathType is none of 0, 1, 2, 3");
  const Settings s =
      settings_of(call, w, stride, padding, dilation, transposed, outputPadding, groups);
  Dims shape;
  const Convolution c = convolution_of(call, x, w, s, shape);
  call.shape_is(to, shape);
  check_image_format(call, to);
  call.writes(call.common(x, w), to);
  if (b) call.shape_is(b, {shape[1]});
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(x) + packed_bytes(w) + patch_bytes(c));
  call.run([=](Launch &launch) {
    const std::vector<float> of_x = cube_input(launch[x], cubeMathType),
                             of_w = cube_input(launch[w], cubeMathType);
    std::vector<float> result = transposed ? c.to_x(of_x, of_w) : c.forward(of_x, of_w);
    if (b) add_bias(result, gathered<float>(launch[b]), spatial_size(shape));
    scattered(launch[to], result);
  });
}

ACLNN(ConvolutionBackward,
      (const aclTensor *gradOutput, const aclTensor *input, const aclTensor *weight,
       const aclIntArray *biasSizes, const aclIntArray *stride, const aclIntArray *padding,
       const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding,
       int32_t groups, const aclBoolArray *outputMask, int8_t cubeMathType, aclTensor *gradInput,
       aclTensor *gradWeight, aclTensor *gradBias),
      (gradOutput, input, weight, biasSizes, stride, padding, dilation, transposed, outputPadding,
       groups, outputMask, cubeMathType, gradInput, gradWeight, gradBias)) {
  const Operand g = call.in(gradOutput, "gradOutput", FLT3), x = call.in(input, "input", FLT3);
  const Operand w = call.in(weight, "weight", FLT3);
  call.require(is_cube_math_type(cubeMathType), "cubeMathType is none of 0, 1, 2, 3");
  const std::vector<bool> wanted = call.bools(outputMask, "outputMask");
  call.require(wanted.size() == 3, "outputMask must have 3 elements");
  const Settings s =
      settings_of(call, w, stride, padding, dilation, transposed, outputPadding, groups);
  Dims shape;
  const Convolution c = convolution_of(call, x, w, s, shape);
  call.shape_is(g, shape);
  check_image_format(call, g);
  Operand of_input, of_weight, of_bias;
  if (wanted[0]) {
    of_input = call.out(gradInput, "gradInput", FLT3);
    call.shape_is(of_input, x.shape());
    check_image_format(call, of_input);
  }
  if (wanted[1]) {
    of_weight = call.out(gradWeight, "gradWeight", FLT3);
    call.shape_is(of_weight, w.shape());
    check_image_format(call, of_weight);
  }
  if (wanted[2]) {
    of_bias = call.out(gradBias, "gradBias", FLT3);
    call.require(call.ints(biasSizes, "biasSizes") == Dims{shape[1]},
                 "biasSizes is not the number of output channels");
    call.shape_is(of_bias, {shape[1]});
  }
  for (const Operand &result : {of_input, of_weight, of_bias}) call.contiguous(result);
  call.workspace(packed_bytes(g) + packed_bytes(x) + packed_bytes(w) + patch_bytes(c));
  call.run([=](Launch &launch) {
    const std::vector<float> grads = cube_input(launch[g], cubeMathType);
    if (of_input) {
      const std::vector<float> weights = cube_input(launch[w], cubeMathType);
      scattered(launch[of_input], transposed ? c.forward(grads, weights) : c.to_x(grads, weights));
    }
    if (of_weight) {
      const std::vector<float> inputs = cube_input(launch[x], cubeMathType);
      scattered(launch[of_weight],
                transposed ? c.to_weight(grads, inputs) : c.to_weight(inputs, grads));
    }
    if (of_bias) scattered(launch[of_bias], channel_sums(grads, shape[1], spatial_size(shape)));
  });
}
