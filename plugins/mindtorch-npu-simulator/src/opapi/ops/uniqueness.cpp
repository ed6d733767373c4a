// Different elements, or slices along a dim; how many there are is known when the kernel has run.
#include <cmath>
#include <numeric>

#include "../moving.h"

using namespace sim;

namespace {

constexpr DTypes COMPARED = REAL10 | WIDE_UNSIGNED;
constexpr int64_t FLATTEN = 1000;  // a dim that stands for all of them

// -1, 0 or 1; NaN comes last and, as in a comparison, equals nothing.
template <class C>
int compare(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) == std::isnan(b) ? 1 : std::isnan(a) ? 1 : -1;
  }
  return a < b ? -1 : b < a ? 1 : 0;
}

// Slices that are compared: rows of numbers.
template <class C>
struct Slices {
  std::vector<C> values;
  int64_t count, size;

  int compared(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < size; ++i) {
      const int result = compare(values[static_cast<size_t>(a * size + i)],
                                 values[static_cast<size_t>(b * size + i)]);
      if (result != 0) return result;
    }
    return 0;
  }
  bool same(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < size; ++i) {
      if (values[static_cast<size_t>(a * size + i)] != values[static_cast<size_t>(b * size + i)])
        return false;
    }
    return true;
  }
};

// The groups of equal slices.
struct Groups {
  std::vector<int64_t> first;    // a slice of each group
  std::vector<int64_t> counts;   // how many there are
  std::vector<int64_t> inverse;  // the group of each slice
};

template <class C>
Groups grouped(const Slices<C> &slices, const std::vector<int64_t> &order) {
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !slices.same(order[i - 1], order[i])) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

// Equal slices among all, in ascending order, or only among neighbours.
Groups groups_of(const View &rows, bool neighbours) {
  Groups groups;
  with_number<ALL_NUMBERS>(rows.dtype, [&](auto zero) {
    using C = decltype(zero);
    const int64_t count = rows.shape[0];
    const Slices<C> slices{gathered<C>(rows), count, count == 0 ? 0 : rows.numel() / count};
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    if constexpr (!std::is_same_v<C, std::complex<float>> &&
                  !std::is_same_v<C, std::complex<double>>) {
      const auto before = [&](int64_t a, int64_t b) { return slices.compared(a, b) < 0; };
      if (!neighbours) std::stable_sort(order.begin(), order.end(), before);
    }
    groups = grouped(slices, order);
  });
  return groups;
}

// The tensor with `dim` first, or with all dims as one.
struct Arranged {
  bool flat;
  size_t dim = 0;

  int64_t slices(const Dims &shape) const { return flat ? numel(shape) : shape[dim]; }
};

struct Outputs {
  Operand values, inverse, counts;
};

void check_outputs(Call &call, const Operand &self, const Arranged &arranged,
                   const Outputs &outputs) {
  const int64_t count = arranged.slices(self.shape());
  call.shape_is(outputs.values, arranged.flat ? Dims{count} : self.shape());
  call.dtype_is(outputs.values, self.dtype());
  call.contiguous(outputs.values);
  if (outputs.inverse) call.require(outputs.inverse.numel() >= count, "inverseOut is too small");
  if (outputs.counts) call.require(outputs.counts.numel() >= count, "countsOut is too small");
}

// Writes densely at the start of an output, and says how much it is.
void write_dense(Launch &launch, const Operand &out, const Dims &shape,
                 const std::vector<int64_t> &values) {
  const View &all = launch[out];
  scattered(View{all.dtype, shape, contiguous_strides(shape), all.data}, values);
  launch.resize(out, shape);
}

void unique(Call &call, const Operand &self, const Arranged &arranged, const Outputs &outputs,
            bool neighbours) {
  check_outputs(call, self, arranged, outputs);
  call.workspace(packed_bytes(self));
  call.waits();
  call.run([=](Launch &launch) {
    std::vector<size_t> order(self.shape().size());
    std::iota(order.begin(), order.end(), 0);
    if (!arranged.flat)
      std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(arranged.dim),
                  order.begin() + static_cast<ptrdiff_t>(arranged.dim) + 1);
    const View turned = launch[self].permute(order);
    const Buffer copy(self.dtype(), turned.shape);
    move(copy.view(), turned);
    View rows = copy.view();
    if (arranged.flat) {
      rows.shape = {self.numel()};
      rows.strides = {1};
    }
    const Groups groups = groups_of(rows, neighbours);
    const auto count = static_cast<int64_t>(groups.first.size());
    // In the output the dim is where it was, and the slices lie densely.
    Dims shape = arranged.flat ? Dims{count} : self.shape();
    const size_t dim = arranged.flat ? 0 : arranged.dim;
    shape[dim] = count;
    const View &all = launch[outputs.values];
    const View values{all.dtype, shape, contiguous_strides(shape), all.data};
    for (int64_t i = 0; i < count; ++i)
      move(values.select(dim, i), rows.select(0, groups.first[static_cast<size_t>(i)]));
    launch.resize(outputs.values, shape);
    if (outputs.counts) write_dense(launch, outputs.counts, {count}, groups.counts);
    if (outputs.inverse) {
      const Dims whole = arranged.flat ? self.shape() : Dims{arranged.slices(self.shape())};
      if (outputs.inverse.shape() == whole) scattered(launch[outputs.inverse], groups.inverse);
      else write_dense(launch, outputs.inverse, whole, groups.inverse);
    }
  });
}

}  // namespace

ACLNN(Unique,
      (const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut,
       aclTensor *inverseOut),
      (self, sorted, returnInverse, valueOut, inverseOut)) {
  (void)sorted;  // always is
  const Operand from = call.in(self, "self", COMPARED),
                values = call.out(valueOut, "valueOut", COMPARED);
  const Operand inverse = call.out(inverseOut, "inverseOut", I64);
  unique(call, from, {true}, {values, returnInverse ? inverse : Operand(), {}}, false);
}

ACLNN(Unique2,
      (const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts,
       aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut),
      (self, sorted, returnInverse, returnCounts, valueOut, inverseOut, countsOut)) {
  (void)sorted;  // always is
  const Operand from = call.in(self, "self", COMPARED),
                values = call.out(valueOut, "valueOut", COMPARED);
  const Operand inverse = call.out(inverseOut, "inverseOut", I64),
                counts = call.out(countsOut, "countsOut", I64);
  const bool inverts = returnInverse || returnCounts;  // counting needs the groups' numbers too
  if (inverts) call.shape_is(inverse, from.shape());
  unique(call, from, {true},
         {values, inverts ? inverse : Operand(), returnCounts ? counts : Operand()}, false);
}

ACLNN(UniqueDim,
      (const aclTensor *self, bool sorted, bool returnInverse, int64_t dim, aclTensor *valueOut,
       aclTensor *inverseOut, aclTensor *countsOut),
      (self, sorted, returnInverse, dim, valueOut, inverseOut, countsOut)) {
  (void)sorted;  // always is
  const Operand from = call.in(self, "self", COMPARED), values = call.out(valueOut, "valueOut");
  const Operand inverse = call.out(inverseOut, "inverseOut", I64),
                counts = call.out(countsOut, "countsOut", I64);
  call.require(from.dim() > 0, "self has no dimensions");
  const auto along = static_cast<size_t>(call.axis(dim, from));
  unique(call, from, {false, along}, {values, returnInverse ? inverse : Operand(), counts}, false);
}

ACLNN(UniqueConsecutive,
      (const aclTensor *self, bool returnInverse, bool returnCounts, int64_t dim,
       aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut),
      (self, returnInverse, returnCounts, dim, valueOut, inverseOut, countsOut)) {
  const Operand from = call.in(self, "self"), values = call.out(valueOut, "valueOut");
  const Operand inverse = call.out(inverseOut, "inverseOut", IDX),
                counts = call.out(countsOut, "countsOut", IDX);
  const bool flat = dim == FLATTEN;
  call.require(flat || from.dim() > 0, "self has no dimensions");
  const Arranged arranged{flat, flat ? 0 : static_cast<size_t>(call.axis(dim, from))};
  unique(call, from, arranged,
         {values, returnInverse ? inverse : Operand(), returnCounts ? counts : Operand()}, true);
}
