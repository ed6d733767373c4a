// Sequences and the identity matrix.
#include <cmath>

#include "../moving.h"

using namespace sim;

namespace {

constexpr DTypes SEQUENCE = FLT4 | I32 | I64;

// out[i] = f(i) as a number of its dtype.
template <class F>
void sequence(Call &call, const Operand &out, F f) {
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(out.dtype(), [&](auto zero) {
      using C = decltype(zero);
      int64_t i = 0;
      elementwise<C>(launch[out], [&] { return convert<C>(f(i++, C{})); });
    });
  });
}

struct Steps {
  Number start, end, step;
  Operand out;
  double length;  // (end - start) / step
};

double whole_distance(int64_t from, int64_t to) {
  if (to < from) return -whole_distance(to, from);
  return static_cast<double>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

Steps steps_of(Call &call, const aclScalar *start, const aclScalar *end, const aclScalar *step,
               aclTensor *out) {
  Steps s{call.scalar(start, "start"), call.scalar(end, "end"), call.scalar(step, "step"),
          call.out(out, "out", SEQUENCE), 0};
  const auto by = s.step.as<double>();
  call.require(by != 0, "step is 0");
  // Large whole numbers differ exactly as integers only.
  const bool exact = has(INTEGRAL | BOOL, s.start.dtype) && has(INTEGRAL | BOOL, s.end.dtype);
  const double distance = exact ? whole_distance(s.start.whole, s.end.whole)
                                : s.end.as<double>() - s.start.as<double>();
  s.length = distance / by;
  call.require(s.length >= 0, "end lies on the other side of start than step goes");
  return s;
}

// out[i] = start + i * step in doubles, or exactly where out holds integers.
void stepped(Call &call, const Steps &s, double count) {
  call.require(static_cast<double>(s.out.numel()) == count,
               "out has " + std::to_string(s.out.numel()) + " elements, the sequence has " +
                   std::to_string(convert<int64_t>(count)));
  sequence(call, s.out, [=](int64_t i, auto zero) {
    using C = std::conditional_t<std::is_floating_point_v<decltype(zero)>, double, int64_t>;
    return plus(s.start.as<C>(), times(static_cast<C>(i), s.step.as<C>()));
  });
}

}  // namespace

ACLNN(Arange, (const aclScalar *start, const aclScalar *end, const aclScalar *step, aclTensor *out),
      (start, end, step, out)) {
  const Steps s = steps_of(call, start, end, step, out);
  stepped(call, s, std::ceil(s.length));
}

ACLNN(Range, (const aclScalar *start, const aclScalar *end, const aclScalar *step, aclTensor *out),
      (start, end, step, out)) {
  const Steps s = steps_of(call, start, end, step, out);
  stepped(call, s, std::floor(s.length) + 1);
}

ACLNN(Linspace, (const aclScalar *start, const aclScalar *end, int64_t steps, aclTensor *out),
      (start, end, steps, out)) {
  const auto first = call.scalar(start, "start").as<double>(),
             last = call.scalar(end, "end").as<double>();
  const Operand line = call.out(out, "out", FLT4 | I8 | I16 | I32 | U8);
  call.require(steps >= 0 && steps == line.numel(), "steps is not the number of out's elements");
  const double by = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  // From both ends, so that the last element is exact.
  sequence(call, line, [=](int64_t i, auto) {
    return i < (steps + 1) / 2 ? first + by * static_cast<double>(i)
                               : last - by * static_cast<double>(steps - 1 - i);
  });
}

ACLNN(Eye, (int64_t n, int64_t m, aclTensor *out), (n, m, out)) {
  const Operand matrix = call.out(out, "out", REAL10 & ~F64);
  call.require(n >= 0 && m >= 0, "n or m is negative");
  call.shape_is(matrix, {n, m});
  sequence(call, matrix, [=](int64_t i, auto) { return i / m == i % m ? 1 : 0; });
}
