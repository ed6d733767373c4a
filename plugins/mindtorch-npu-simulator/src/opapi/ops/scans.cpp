// Running sums, products and extremes along a dim.
#include "../gathering.h"

using namespace sim;

namespace {

constexpr DTypes SUMS = REAL9 | COMPLEX, PRODUCTS = REAL9 | WIDE_UNSIGNED;

// Every line of self becomes f(line, its length), computed in the numbers of `as`.
template <unsigned Kinds, class F>
void scan(Call &call, const Operand &self, const std::vector<bool> &chosen, aclDataType as,
          const Operand &out, F f) {
  call.shape_is(out, self.shape());
  call.require(converts(self.dtype(), as), std::string("self of dtype ") + name_of(self.dtype()) +
                                               " cannot be added up as " + name_of(as));
  call.writes(as, out);
  call.workspace(scratch_bytes(self));
  if (self.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      auto lines = grouped<wide<decltype(zero)>>(launch[self], chosen);
      for (size_t k = 0; k < lines.count; ++k)
        f(lines.values.data() + k * lines.length, lines.length);
      ungrouped(launch[out], chosen, lines.values);
    });
  });
}

// The parts of a sum that an element gets: those before it, with or without itself.
struct RunningSum {
  bool exclusive = false, reverse = false;

  template <class C>
  void operator()(C *v, size_t n) const {
    C total{};
    for (size_t i = 0; i < n; ++i) {
      C &here = v[reverse ? n - 1 - i : i];
      const C before = total;
      total = plus(total, here);
      here = exclusive ? before : total;
    }
  }
};

const auto running_product = [](auto *v, size_t n) {
  for (size_t i = 1; i < n; ++i) v[i] = times(v[i], v[i - 1]);
};

int64_t dim_of(Call &call, const aclScalar *dim) {
  const Number number = call.scalar(dim, "dim");
  call.require(has(INTEGRAL, number.dtype), "dim must be an integer scalar");
  return number.whole;
}

// Of equals the last; from the first NaN on every result is the latest NaN.
template <class F>
void running_extreme(Call &call, const Operand &self, int64_t dim, const Operand &values,
                     const Operand &indices, F at_least) {
  const std::vector<bool> chosen = only(call, dim, self);
  for (const Operand *out : {&values, &indices}) call.shape_is(*out, self.shape());
  call.writes(self.dtype(), values);
  call.workspace(scratch_bytes(self));
  if (self.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      auto lines = grouped<C>(launch[self], chosen);
      std::vector<int64_t> places(lines.values.size());
      for (size_t k = 0; k < lines.count; ++k) {
        C *v = lines.values.data() + k * lines.length;
        size_t best = 0;
        for (size_t i = 0; i < lines.length; ++i) {
          if (v[i] != v[i] || (v[best] == v[best] && at_least(v[i], v[best]))) best = i;
          v[i] = v[best];
          places[k * lines.length + i] = static_cast<int64_t>(best);
        }
      }
      ungrouped(launch[values], chosen, lines.values);
      ungrouped(launch[indices], chosen, places);
    });
  });
}

}  // namespace

ACLNN(Cumsum, (const aclTensor *self, int64_t dim, aclDataType dtype, aclTensor *out),
      (self, dim, dtype, out)) {
  const Operand x = call.in(self, "self", SUMS), y = call.out(out, "out", SUMS);
  call.dtype_is(y, dtype);
  scan<ALL_NUMBERS>(call, x, only(call, dim, x), dtype, y, RunningSum{});
}

ACLNN(CumsumV2, (const aclTensor *self, int64_t dim, bool exclusive, bool reverse, aclTensor *out),
      (self, dim, exclusive, reverse, out)) {
  const Operand x = call.in(self, "self", SUMS), y = call.out(out, "out", SUMS);
  scan<ALL_NUMBERS>(call, x, only(call, dim, x), x.dtype(), y, RunningSum{exclusive, reverse});
}

ACLNN(Cumprod, (const aclTensor *input, const aclScalar *dim, aclDataType dtype, aclTensor *out),
      (input, dim, dtype, out)) {
  const Operand x = call.in(input, "input", PRODUCTS), y = call.out(out, "out", PRODUCTS);
  const auto chosen = only(call, dim_of(call, dim), x);
  const aclDataType as = dtype == ACL_DT_UNDEFINED ? x.dtype() : dtype;
  call.require(has(PRODUCTS, as), std::string("dtype ") + name_of(as) + " is not supported");
  scan<REALS | WHOLE>(call, x, chosen, as, y, running_product);
}

ACLNN(InplaceCumprod, (aclTensor * input, const aclScalar *dim), (input, dim)) {
  const Operand x = call.inout(input, "input", PRODUCTS);
  scan<REALS | WHOLE>(call, x, only(call, dim_of(call, dim), x), x.dtype(), x, running_product);
}

#define RUNNING_EXTREME(Name, F)                                                                   \
  ACLNN(Name, (const aclTensor *self, int64_t dim, aclTensor *valuesOut, aclTensor *indicesOut),   \
        (self, dim, valuesOut, indicesOut)) {                                                      \
    const Operand x = call.in(self, "self", REAL10), y = call.out(valuesOut, "valuesOut", REAL10); \
    const Operand at = call.out(indicesOut, "indicesOut", IDX);                                    \
    running_extreme(call, x, dim, y, at, F);                                                       \
  }
RUNNING_EXTREME(Cummax, [](auto a, auto b) { return a >= b; })
RUNNING_EXTREME(Cummin, [](auto a, auto b) { return a <= b; })
