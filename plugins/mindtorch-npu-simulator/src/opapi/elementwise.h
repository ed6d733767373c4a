// Element-wise kernels: inputs broadcast to the output, computed in one number type.
#pragma once

#include <algorithm>

#include "operator.h"

namespace sim {

constexpr int64_t TILE = 512;  // elements converted at a time

// Sums and products that wrap around where integers overflow, as those of the hardware do.
template <class C>
C plus(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}
template <class C>
C times(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}

// n results from n elements of each input.
template <class C, class R>
using Step = std::function<void(const C *const *inputs, R *results, int64_t n)>;

// Goes over views of one shape tile by tile. Compiled once for a pair of number types, not once for
// each of a hundred operators.
template <class C, class R, size_t N>
void by_tiles(const View &out, const std::array<View, N> &inputs, const Step<C, R> &step) {
  std::array<const View *, N + 1> views;
  views[0] = &out;
  for (size_t k = 0; k != N; ++k) views[k + 1] = &inputs[k];
  C tiles[N == 0 ? 1 : N][TILE];
  const C *starts_of_tiles[N == 0 ? 1 : N];
  for (size_t k = 0; k != N; ++k) starts_of_tiles[k] = tiles[k];
  R results[TILE];
  for_rows(views, [&](int64_t n, const auto &starts, const auto &strides) {
    for (int64_t first = 0; first < n; first += TILE) {
      const int64_t count = std::min(TILE, n - first);
      for (size_t k = 0; k != N; ++k) {
        const aclDataType d = inputs[k].dtype;
        const auto size = static_cast<int64_t>(item_size(d));
        load<C>(d, starts[k + 1] + first * strides[k + 1] * size, strides[k + 1], count, tiles[k]);
      }
      step(starts_of_tiles, results, count);
      const auto size = static_cast<int64_t>(item_size(out.dtype));
      store<R>(out.dtype, starts[0] + first * strides[0] * size, strides[0], count, results);
    }
  });
}

// out[i] = f(in0[i], in1[i], ...), all converted to C before and from C afterwards. The inputs
// broadcast.
template <class C, class R = C, class F, class... Inputs>
void elementwise(const View &out, F f, const Inputs &...inputs) {
  constexpr size_t N = sizeof...(Inputs);
  const std::array<View, N> wide{inputs.expand(out.shape)...};
  by_tiles<C, R, N>(out, wide, [&](const C *const *x, R *results, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (N == 0) results[i] = f();
      else if constexpr (N == 1) results[i] = f(x[0][i]);
      else if constexpr (N == 2) results[i] = f(x[0][i], x[1][i]);
      else if constexpr (N == 3) results[i] = f(x[0][i], x[1][i], x[2][i]);
      else results[i] = f(x[0][i], x[1][i], x[2][i], x[3][i]);
    }
  });
}

// A number as an element of a dtype holds it.
template <class C>
C rounded(const Number &number, aclDataType d) {
  if (has(F16, d)) return convert<C>(convert<half>(number.as<C>()));
  if (has(BF16, d)) return convert<C>(convert<bfloat>(number.as<C>()));
  return number.as<C>();
}

// The inputs broadcast to exactly out's shape; refused otherwise.
template <class... Operands>
void broadcast_to(const Call &call, const Operand &out, const Operands &...inputs) {
  Dims shape;
  const auto join = [&](const Operand &input) {
    Dims joined;
    call.require(broadcast(shape, input.shape(), joined),
                 input.name() + " does not broadcast with the others");
    shape = std::move(joined);
  };
  (join(inputs), ...);
  call.shape_is(out, shape);
}

// Broadcast of two operands, which out must have; refused otherwise.
inline void broadcasts(const Call &call, const Operand &a, const Operand &b, const Operand &out) {
  Dims shape;
  call.require(broadcast(a.shape(), b.shape(), shape),
               a.name() + " and " + b.name() + " do not broadcast");
  call.shape_is(out, shape);
}

// ---- whole definitions for families with one signature ------------------------------------------

// out = f(self), of the dtype that `result` makes of self's.
template <unsigned Kinds, class F>
void unary(Call &call, const Operand &self, const Operand &out, aclDataType as, F f) {
  call.shape_is(out, self.shape());
  call.writes(as, out);
  if (self.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = decltype(zero);
      elementwise<C>(launch[out], [&](C x) { return static_cast<C>(f(x)); }, launch[self]);
    });
  });
}

// out = f(self, other), both promoted to `as`; R is the type of the results where it is not the
// numbers'.
template <unsigned Kinds, class F>
void binary(Call &call, const Operand &self, const Operand &other, const Operand &out,
            aclDataType as, F f) {
  broadcasts(call, self, other, out);
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = decltype(zero);
      elementwise<C>(
          launch[out], [&](C a, C b) { return static_cast<C>(f(a, b)); }, launch[self],
          launch[other]);
    });
  });
}

// out = f(self, number), the number converted to `as` first.
template <unsigned Kinds, class F>
void with_scalar(Call &call, const Operand &self, const Number &number, const Operand &out,
                 aclDataType as, F f) {
  call.require(as != ACL_DT_UNDEFINED, self.name() + " and the scalar do not combine");
  call.shape_is(out, self.shape());
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = decltype(zero);
      const C b = number.as<C>();
      elementwise<C>(launch[out], [&](C a) { return static_cast<C>(f(a, b)); }, launch[self]);
    });
  });
}

// out = whether f(self, other): comparisons, which write any dtype.
template <unsigned Kinds, class F>
void comparison(Call &call, const Operand &self, const Operand &other, const Operand &out, F f) {
  broadcasts(call, self, other, out);
  const aclDataType as = call.common(self, other);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = decltype(zero);
      elementwise<C, int64_t>(
          launch[out], [&](C a, C b) { return f(a, b) ? 1 : 0; }, launch[self], launch[other]);
    });
  });
}

template <unsigned Kinds, class F>
void compared_with_scalar(Call &call, const Operand &self, const Number &number, const Operand &out,
                          F f) {
  const aclDataType as = promote_scalar(self.dtype(), number.dtype);
  call.require(as != ACL_DT_UNDEFINED, self.name() + " and the scalar do not combine");
  call.shape_is(out, self.shape());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(as, [&](auto zero) {
      using C = decltype(zero);
      const C b = rounded<C>(number, as);
      elementwise<C, int64_t>(launch[out], [&](C a) { return f(a, b) ? 1 : 0; }, launch[self]);
    });
  });
}

// out = f(inputs...), computed in the numbers of `as`. The inputs broadcast, which the caller
// checks.
template <unsigned Kinds, class F, class... Operands>
void mapped(Call &call, const Operand &out, aclDataType as, F f, const Operands &...inputs) {
  call.writes(as, out);
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(
        as, [&](auto zero) { elementwise<decltype(zero)>(launch[out], f, launch[inputs]...); });
  });
}

// out = whether f(self): predicates. The number type is that of self.
template <unsigned Kinds, class F>
void predicate(Call &call, const Operand &self, const Operand &out, F f) {
  call.shape_is(out, self.shape());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<Kinds>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      elementwise<C, int64_t>(launch[out], [&](C a) { return f(a) ? 1 : 0; }, launch[self]);
    });
  });
}

}  // namespace sim
