// Tensors put together and taken apart.
#include "../moving.h"
#include "../sizes.h"

using namespace sim;

namespace {

constexpr DTypes JOINED = REAL10 | WIDE_UNSIGNED | C64;

// The dtype that all members of a list promote to.
aclDataType common_dtype(Call &call, const std::vector<Operand> &tensors) {
  call.require(!tensors.empty(), "tensors is empty");
  aclDataType as = tensors[0].dtype();
  for (const Operand &t : tensors) {
    as = promote(as, t.dtype());
    call.require(as != ACL_DT_UNDEFINED, "the dtypes of tensors do not combine");
  }
  return as;
}

// A vector without elements joins with tensors of any rank.
bool is_nothing(const Operand &t) { return t.dim() == 1 && t.numel() == 0; }

void write_parts(Call &call, const std::vector<Operand> &parts, const Operand &out, size_t dim) {
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    int64_t at = 0;
    for (const Operand &part : parts) {
      const int64_t length = part.shape()[dim];
      if (part.numel() != 0) convert(launch[out].narrow(dim, at, length), launch[part]);
      at += length;
    }
  });
}

// self's parts along a dim, of the given lengths, go to the members of a list.
void split(Call &call, const Operand &self, const Dims &lengths, size_t dim, aclTensorList *out) {
  const std::vector<Operand> parts = call.list_out(out, "out");
  call.require(parts.size() == lengths.size(), "out has " + std::to_string(parts.size()) +
                                                   " members, the split has " +
                                                   std::to_string(lengths.size()));
  for (size_t i = 0; i < parts.size(); ++i) {
    Dims shape = self.shape();
    shape[dim] = lengths[i];
    call.shape_is(parts[i], shape);
    call.dtype_is(parts[i], self.dtype());
  }
  if (self.numel() == 0) return;
  call.run([=](Launch &launch) {
    int64_t at = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (lengths[i] != 0) move(launch[parts[i]], launch[self].narrow(dim, at, lengths[i]));
      at += lengths[i];
    }
  });
}

}  // namespace

ACLNN(Cat, (const aclTensorList *tensors, int64_t dim, aclTensor *out), (tensors, dim, out)) {
  const std::vector<Operand> all = call.list(tensors, "tensors", JOINED);
  const Operand to = call.out(out, "out", JOINED);
  call.writes(common_dtype(call, all), to);
  std::vector<Operand> parts;
  for (const Operand &t : all) {
    if (!is_nothing(t)) parts.push_back(t);
  }
  if (parts.empty()) return call.shape_is(to, {0});
  call.require(parts[0].dim() > 0, "tensors without dimensions cannot be joined");
  const auto along = static_cast<size_t>(call.axis(dim, parts[0]));
  Dims shape = parts[0].shape();
  shape[along] = 0;
  for (const Operand &part : parts) {
    call.require(part.dim() == parts[0].dim(),
                 part.name() + " has another rank than the first tensor");
    Dims expected = part.shape();
    shape[along] += expected[along];
    expected[along] = shape[along];
    call.require(expected == shape,
                 part.name() + " differs from the first tensor in a dim that is not dim");
  }
  call.shape_is(to, shape);
  write_parts(call, parts, to, along);
}

ACLNN(Stack, (const aclTensorList *tensors, int64_t dim, aclTensor *out), (tensors, dim, out)) {
  const std::vector<Operand> parts = call.list(tensors, "tensors");
  const Operand to = call.out(out, "out");
  call.writes(common_dtype(call, parts), to);
  const int64_t rank = parts[0].dim() + 1;
  call.require(-rank <= dim && dim < rank, "dim is out of range");
  const int64_t along = dim < 0 ? dim + rank : dim;
  Dims shape = parts[0].shape();
  for (const Operand &part : parts) call.shape_is(part, shape);
  shape.insert(shape.begin() + along, static_cast<int64_t>(parts.size()));
  call.shape_is(to, shape);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    for (size_t i = 0; i < parts.size(); ++i) {
      convert(launch[to].select(static_cast<size_t>(along), static_cast<int64_t>(i)),
              launch[parts[i]]);
    }
  });
}

ACLNN(SplitTensor, (const aclTensor *self, uint64_t splitSections, int64_t dim, aclTensorList *out),
      (self, splitSections, dim, out)) {
  const Operand from = call.in(self, "self");
  call.require(from.dim() > 0, "self has no dimensions");
  const auto along = static_cast<size_t>(call.axis(dim, from));
  const int64_t size = from.shape()[along];
  call.require(splitSections > 0 || size == 0, "splitSections is 0");
  Dims lengths;
  const int64_t section =
      splitSections > static_cast<uint64_t>(size) ? size : static_cast<int64_t>(splitSections);
  for (int64_t at = 0; at < size; at += section) lengths.push_back(std::min(section, size - at));
  if (size == 0) lengths.push_back(0);
  split(call, from, lengths, along, out);
}

ACLNN(SplitWithSize,
      (const aclTensor *self, const aclIntArray *splitSize, int64_t dim, aclTensorList *out),
      (self, splitSize, dim, out)) {
  const Operand from = call.in(self, "self");
  call.require(from.dim() > 0, "self has no dimensions");
  const auto along = static_cast<size_t>(call.axis(dim, from));
  const Dims lengths = call.ints(splitSize, "splitSize");
  int64_t sum = 0;
  for (const int64_t length : lengths) {
    call.require(length >= 0, "splitSize has a negative element");
    size_is_possible(call, length, "an element of splitSize");
    sum += length;
  }
  call.require(sum == from.shape()[along], "splitSize does not add up to the size of self");
  split(call, from, lengths, along, out);
}
