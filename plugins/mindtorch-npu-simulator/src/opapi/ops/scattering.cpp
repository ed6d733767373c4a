// Scatters: values joined to the elements that an index names along one dim.
#include <limits>

#include "../indexed.h"

using namespace sim;

namespace {

// What a scatter works on, checked. A tensor without dims counts as one with a single element.
struct Scattering {
  Operand self, index, out;
  size_t dim = 0;
};

Dims at_least_one_dim(const Operand &operand) {
  return operand.dim() == 0 ? Dims{1} : operand.shape();
}

Scattering scattering(Call &call, const Operand &self, int64_t dim, const Operand &index,
                      const Operand &out) {
  Scattering s{self, index, out, static_cast<size_t>(call.axis(dim, self))};
  call.dtype_is(out, self.dtype());
  call.shape_is(out, self.shape());
  const Dims whole = at_least_one_dim(self), chosen = at_least_one_dim(index);
  if (index.numel() == 0) return s;
  call.require(whole.size() == chosen.size(), "index and " + self.name() + " differ in rank");
  for (size_t d = 0; d < whole.size(); ++d) {
    call.require(d == s.dim || chosen[d] <= whole[d],
                 "index is larger than " + self.name() + " in a dim that is not dim");
  }
  return s;
}

void check_source(Call &call, const Scattering &s, const Operand &src) {
  call.dtype_is(src, s.self.dtype());
  if (s.index.numel() == 0) return;
  const Dims chosen = at_least_one_dim(s.index), given = at_least_one_dim(src);
  call.require(given.size() == chosen.size(), "src and index differ in rank");
  for (size_t d = 0; d < given.size(); ++d)
    call.require(chosen[d] <= given[d], "index is larger than src");
}

// The part of src that goes with the index.
View source_of(const Launch &launch, const Operand &src, const View &index) {
  View part = with_a_dim(launch[src]);
  part.shape = index.shape;
  return part;
}

void run_scatter(Call &call, const Scattering &s, const Operand &src, Join how) {
  if (s.out.numel() == 0) return;
  call.run([=](Launch &launch) {
    move(launch[s.out], launch[s.self]);
    if (s.index.numel() == 0) return;
    const View index = with_a_dim(launch[s.index]);
    join(how, source_of(launch, src, index),
         select_along(launch, with_a_dim(launch[s.out]), s.dim, index, true));
  });
}

Join join_of(Call &call, int64_t reduce) {
  call.require(0 <= reduce && reduce <= 2, "reduce is none of 0, 1, 2");
  return reduce == 0 ? Join::REPLACE : reduce == 1 ? Join::ADD : Join::MULTIPLY;
}

void scatter(Call &call, const Scattering &s, const aclTensor *src, int64_t reduce) {
  const Operand values = call.in(src, "src", NUM12);
  check_source(call, s, values);
  run_scatter(call, s, values, join_of(call, reduce));
}

void scatter(Call &call, const Scattering &s, const aclScalar *value, int64_t reduce) {
  const Number number = call.scalar(value, "value");
  const Join how = join_of(call, reduce);
  if (s.out.numel() == 0) return;
  call.run([=](Launch &launch) {
    move(launch[s.out], launch[s.self]);
    if (s.index.numel() == 0) return;
    const View index = with_a_dim(launch[s.index]);
    const Buffer one(s.self.dtype(), {});
    fill(one.view(), number);
    join(how, one.view().expand(index.shape),
         select_along(launch, with_a_dim(launch[s.out]), s.dim, index, true));
  });
}

// ---- scatter_reduce -----------------------------------------------------------------------------

enum Reduction : int64_t { NONE, SUM, PRODUCT, MAXIMUM = 3, MINIMUM, MEAN };

Join join_of_reduction(int64_t reduce) {
  switch (reduce) {
    case PRODUCT: return Join::MULTIPLY;
    case MAXIMUM: return Join::MAXIMUM;
    case MINIMUM: return Join::MINIMUM;
    case NONE: return Join::REPLACE;
    default: return Join::ADD;
  }
}

// What a reduction starts from where it leaves out the element that is there.
template <class C>
C identity(int64_t reduce) {
  if constexpr (std::is_floating_point_v<C>) {
    if (reduce == MAXIMUM) return -std::numeric_limits<C>::infinity();
    if (reduce == MINIMUM) return std::numeric_limits<C>::infinity();
  } else if constexpr (std::is_integral_v<C>) {
    if (reduce == MAXIMUM) return std::numeric_limits<C>::min();
    if (reduce == MINIMUM) return std::numeric_limits<C>::max();
  }
  return reduce == PRODUCT ? C{1} : C{0};
}

void start_from_identity(int64_t reduce, aclDataType d, const Selected &chosen) {
  with_storage(d, [&](auto element_type) {
    using T = decltype(element_type);
    T first;
    // An integer's extremes are those of its own type, not of the one it is computed in.
    if constexpr (std::is_integral_v<T>) first = identity<T>(reduce);
    else if constexpr (std::is_same_v<T, truth>)
      first = {static_cast<uint8_t>(reduce == MINIMUM || reduce == PRODUCT)};
    else first = convert<T>(identity<number_of<T>>(reduce));
    through<T>(chosen.base, chosen.offsets, chosen.base,
               [first](T &element, T &) { element = first; });
  });
}

// Sums become means: divided by how many values came to each element.
void divide_by_counts(const Launch &launch, const Scattering &s, const View &index,
                      bool include_self) {
  const View out = with_a_dim(launch[s.out]);
  std::vector<int64_t> memory(static_cast<size_t>(out.numel()), include_self ? 1 : 0);
  const View counts = view_of(memory, out.shape);
  std::vector<int64_t> ones(static_cast<size_t>(index.numel()), 1);
  join(Join::ADD, view_of(ones, index.shape), select_along(launch, counts, s.dim, index, true));
  with_number<ALL_NUMBERS>(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    elementwise<C>(
        out,
        [](C sum, C count) {
          if (count == C{}) return sum;
          if constexpr (std::is_integral_v<C>) {
            const C quotient = sum / count;
            return sum % count != 0 && sum < 0 ? quotient - 1 : quotient;
          } else {
            return sum / count;
          }
        },
        out, counts);
  });
}

void scatter_reduce(Call &call, const Scattering &s, const Operand &src, int64_t reduce,
                    bool include_self) {
  call.require(
      reduce == NONE || reduce == SUM || reduce == PRODUCT || (MAXIMUM <= reduce && reduce <= MEAN),
      "reduce is none of 0, 1, 2, 3, 4, 5");
  const bool ordered = reduce == MAXIMUM || reduce == MINIMUM;
  call.require(!ordered || !has(COMPLEX, s.self.dtype()),
               "complex numbers have no maximum or minimum");
  check_source(call, s, src);
  if (s.out.numel() == 0) return;
  call.run([=](Launch &launch) {
    move(launch[s.out], launch[s.self]);
    if (s.index.numel() == 0) return;
    const View index = with_a_dim(launch[s.index]);
    const Selected chosen = select_along(launch, with_a_dim(launch[s.out]), s.dim, index, true);
    if (!include_self && reduce != NONE) start_from_identity(reduce, s.self.dtype(), chosen);
    join(join_of_reduction(reduce), source_of(launch, src, index), chosen);
    if (reduce == MEAN) divide_by_counts(launch, s, index, include_self);
  });
}

}  // namespace

#define SCATTER(Name, Source, SOURCE)                                                           \
  ACLNN(Name,                                                                                   \
        (const aclTensor *self, int64_t dim, const aclTensor *index, const Source *SOURCE,      \
         int64_t reduce, aclTensor *out),                                                       \
        (self, dim, index, SOURCE, reduce, out)) {                                              \
    const Operand x = call.in(self, "self", NUM12), at = call.in(index, "index", IDX);          \
    scatter(call, scattering(call, x, dim, at, call.out(out, "out", NUM12)), SOURCE, reduce);   \
  }                                                                                             \
  ACLNN(Inplace##Name,                                                                          \
        (aclTensor *selfRef, int64_t dim, const aclTensor *index, const Source *SOURCE,         \
         int64_t reduce),                                                                       \
        (selfRef, dim, index, SOURCE, reduce)) {                                                \
    const Operand x = call.inout(selfRef, "selfRef", NUM12), at = call.in(index, "index", IDX); \
    scatter(call, scattering(call, x, dim, at, x), SOURCE, reduce);                             \
  }
SCATTER(Scatter, aclTensor, src)
SCATTER(ScatterValue, aclScalar, value)

ACLNN(ScatterAdd,
      (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src,
       aclTensor *out),
      (self, dim, index, src, out)) {
  const Operand from = call.in(self, "self", NUM12), at = call.in(index, "index", IDX);
  const Operand values = call.in(src, "src", NUM12), to = call.out(out, "out", NUM12);
  call.contiguous(values);
  call.contiguous(to);
  const Scattering s = scattering(call, from, dim, at, to);
  check_source(call, s, values);
  call.workspace(packed_bytes(from));
  run_scatter(call, s, values, Join::ADD);
}

ACLNN(ScatterReduce,
      (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src,
       int64_t reduce, bool includeSelf, aclTensor *out),
      (self, dim, index, src, reduce, includeSelf, out)) {
  const Operand from = call.in(self, "self", NUM12), at = call.in(index, "index", IDX);
  const Operand values = call.in(src, "src", NUM12);
  scatter_reduce(call, scattering(call, from, dim, at, call.out(out, "out", NUM12)), values, reduce,
                 includeSelf);
}

ACLNN(InplaceScatterReduce,
      (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclTensor *src,
       int64_t reduce, bool includeSelf),
      (selfRef, dim, index, src, reduce, includeSelf)) {
  const Operand to = call.inout(selfRef, "selfRef", NUM12), at = call.in(index, "index", IDX);
  scatter_reduce(call, scattering(call, to, dim, at, to), call.in(src, "src", NUM12), reduce,
                 includeSelf);
}
