// Greatest, smallest and middle elements, and where they are. NaN wins; of equals the first.
#include <algorithm>

#include "../reduction.h"

using namespace sim;

namespace {

// Whether a takes the place of b as the extreme.
const auto greater = [](auto a, auto b) { return b == b && (a != a || a > b); };
const auto smaller = [](auto a, auto b) { return b == b && (a != a || a < b); };

template <class F, class C>
size_t position(const C *v, size_t n, F wins) {
  size_t best = 0;
  for (size_t i = 1; i < n; ++i) best = wins(v[i], v[best]) ? i : best;
  return best;
}

template <class F>
void extreme(Call &call, const Operand &self, const std::vector<bool> &chosen, const Operand &out,
             F wins) {
  call.writes(self.dtype(), out);
  not_empty(call, self, chosen);
  reduce<REALS | WHOLE>(call, self, chosen, self.dtype(), out,
                        [=](const auto *v, size_t n) { return v[position(v, n, wins)]; });
}

// Values and positions at once; `find` gives a position in a group.
template <class F>
void located(Call &call, const Operand &self, const std::vector<bool> &chosen,
             const Operand &values, const Operand &indices, F find) {
  call.writes(self.dtype(), values);
  call.shape_is(indices, values.shape());
  not_empty(call, self, chosen);
  call.workspace(scratch_bytes(self));
  if (values.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const auto groups = grouped<C>(launch[self], chosen);
      std::vector<C> found(groups.count);
      std::vector<int64_t> places(groups.count);
      for (size_t k = 0; k < groups.count; ++k) {
        const size_t place = find(groups.begin(k), groups.length);
        found[k] = groups.begin(k)[place];
        places[k] = static_cast<int64_t>(place);
      }
      scattered(launch[values], found);
      scattered(launch[indices], places);
    });
  });
}

template <class F>
void place(Call &call, const Operand &self, int64_t dim, bool keep, const Operand &out, F wins) {
  const auto chosen = reduced_dims(call, self, {dim}, keep, out);
  not_empty(call, self, chosen);
  reduce<REALS | WHOLE>(call, self, chosen, self.dtype(), out, [=](const auto *v, size_t n) {
    return static_cast<int64_t>(position(v, n, wins));
  });
}

// The lower of the two in the middle. With `skip` NaNs are left out, otherwise the first one is the
// median.
struct Middle {
  bool skip;

  template <class C>
  size_t operator()(const C *v, size_t n) const {
    std::vector<size_t> order;
    for (size_t i = 0; i < n; ++i) {
      if (v[i] == v[i]) order.push_back(i);
      else if (!skip) return i;
    }
    if (order.empty()) return 0;
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::nth_element(order.begin(), middle, order.end(),
                     [&](size_t a, size_t b) { return v[a] < v[b]; });
    return *middle;
  }
};

void median(Call &call, const Operand &self, bool skip, const Operand &out) {
  const auto chosen = all_dims(call, self, out);
  call.dtype_is(out, self.dtype());
  not_empty(call, self, chosen);
  reduce<REALS | WHOLE>(call, self, chosen, self.dtype(), out,
                        [=](const auto *v, size_t n) { return v[Middle{skip}(v, n)]; });
}

constexpr DTypes LOCATED = FLT3 | IDX | BOOL, MEDIANS = REAL10 & ~(F64 | BOOL);

}  // namespace

// ---- without positions --------------------------------------------------------------------------

#define EXTREME(Name, F)                                                                        \
  ACLNN(A##Name, (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out), \
        (self, dim, keepDim, out)) {                                                            \
    const Operand x = call.in(self, "self", REAL10), y = call.out(out, "out", REAL10);          \
    extreme(call, x, reduced_dims(call, x, call.ints(dim, "dim"), keepDim, y), y, F);           \
  }
EXTREME(max, greater)
EXTREME(min, smaller)

#define WHOLE_EXTREME(Name, F)                                                         \
  ACLNN(Name, (const aclTensor *self, aclTensor *out), (self, out)) {                  \
    const Operand x = call.in(self, "self", REAL10), y = call.out(out, "out", REAL10); \
    extreme(call, x, all_dims(call, x, y), y, F);                                      \
  }
WHOLE_EXTREME(Max, greater)
WHOLE_EXTREME(Min, smaller)

ACLNN(MaxV2,
      (const aclTensor *self, const aclIntArray *dims, bool keepDims, bool noopWithEmptyDims,
       aclTensor *out),
      (self, dims, keepDims, noopWithEmptyDims, out)) {
  const Operand x = call.in(self, "self", REAL10), y = call.out(out, "out", REAL10);
  const Dims given = call.ints(dims, "dims");
  std::vector<bool> chosen(x.shape().size(), false);
  if (!given.empty() || !noopWithEmptyDims) chosen = call.axes(given, x);
  call.shape_is(y, reduced_shape(x.shape(), chosen, keepDims));
  extreme(call, x, chosen, y, greater);
}

namespace {

void both_extremes(Call &call, const Operand &self, const std::vector<bool> &chosen,
                   const Operand &low, const Operand &high) {
  for (const Operand *out : {&low, &high}) call.writes(self.dtype(), *out);
  not_empty(call, self, chosen);
  call.workspace(scratch_bytes(self));
  if (low.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const auto groups = grouped<C>(launch[self], chosen);
      std::vector<C> least(groups.count), most(groups.count);
      for (size_t k = 0; k < groups.count; ++k) {
        const C *v = groups.begin(k);
        least[k] = v[position(v, groups.length, smaller)];
        most[k] = v[position(v, groups.length, greater)];
      }
      scattered(launch[low], least);
      scattered(launch[high], most);
    });
  });
}

}  // namespace

ACLNN(Aminmax,
      (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *minOut,
       aclTensor *maxOut),
      (self, dim, keepDim, minOut, maxOut)) {
  const Operand x = call.in(self, "self", REAL10), low = call.out(minOut, "minOut", REAL10);
  const Operand high = call.out(maxOut, "maxOut", REAL10);
  const Dims dims = call.ints(dim, "dim");
  const auto chosen = reduced_dims(call, x, dims, keepDim, low);
  call.shape_is(high, low.shape());
  both_extremes(call, x, chosen, low, high);
}

ACLNN(AminmaxAll, (const aclTensor *self, aclTensor *minOut, aclTensor *maxOut),
      (self, minOut, maxOut)) {
  const Operand x = call.in(self, "self", REAL10), low = call.out(minOut, "minOut", REAL10);
  const Operand high = call.out(maxOut, "maxOut", REAL10);
  all_dims(call, x, low);
  both_extremes(call, x, all_dims(call, x, high), low, high);
}

ACLNN(AminmaxDim,
      (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *minOut, aclTensor *maxOut),
      (self, dim, keepDim, minOut, maxOut)) {
  const Operand x = call.in(self, "self", REAL10), low = call.out(minOut, "minOut", REAL10);
  const Operand high = call.out(maxOut, "maxOut", REAL10);
  const auto chosen = reduced_dims(call, x, {dim}, keepDim, low);
  call.shape_is(high, low.shape());
  both_extremes(call, x, chosen, low, high);
}

// ---- with positions -----------------------------------------------------------------------------

#define EXTREME_DIM(Name, INDICES, F)                                                           \
  ACLNN(Name,                                                                                   \
        (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out, aclTensor *indices), \
        (self, dim, keepdim, out, indices)) {                                                   \
    const Operand x = call.in(self, "self", LOCATED), y = call.out(out, "out", LOCATED);        \
    const Operand at = call.out(indices, "indices", INDICES);                                   \
    located(call, x, reduced_dims(call, x, {dim}, keepdim, y), y, at,                           \
            [](const auto *v, size_t n) { return position(v, n, F); });                         \
  }
EXTREME_DIM(MaxDim, IDX, greater)
EXTREME_DIM(MinDim, I32, smaller)

#define PLACE(Name, F)                                                            \
  ACLNN(Name, (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out), \
        (self, dim, keepdim, out)) {                                              \
    const Operand x = call.in(self, "self", REAL9);                               \
    place(call, x, dim, keepdim, call.out(out, "out", IDX), F);                   \
  }
PLACE(ArgMax, greater)
PLACE(ArgMin, smaller)

// ---- medians ------------------------------------------------------------------------------------

ACLNN(Median, (const aclTensor *self, aclTensor *valuesOut), (self, valuesOut)) {
  const Operand x = call.in(self, "self", MEDIANS);
  median(call, x, false, call.out(valuesOut, "valuesOut", MEDIANS));
}

ACLNN(NanMedian, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", MEDIANS);
  median(call, x, true, call.out(out, "out", MEDIANS));
}

#define MEDIAN_DIM(Name, SKIP)                                                       \
  ACLNN(Name,                                                                        \
        (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut,     \
         aclTensor *indicesOut),                                                     \
        (self, dim, keepDim, valuesOut, indicesOut)) {                               \
    const Operand x = call.in(self, "self", MEDIANS),                                \
                  y = call.out(valuesOut, "valuesOut", MEDIANS);                     \
    const Operand at = call.out(indicesOut, "indicesOut", I64);                      \
    located(call, x, reduced_dims(call, x, {dim}, keepDim, y), y, at, Middle{SKIP}); \
  }
MEDIAN_DIM(MedianDim, false)
MEDIAN_DIM(NanMedianDim, true)
