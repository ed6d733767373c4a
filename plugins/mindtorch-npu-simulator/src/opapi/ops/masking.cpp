// Elements by masks, and the places of what is not 0.
#include "../moving.h"

using namespace sim;

namespace {

constexpr DTypes FILLED = FLT3 | I8 | I32 | I64 | BOOL;

void check_mask(Call &call, const Operand &mask, const Operand &self) {
  Dims wide;
  const bool fits = broadcast(mask.shape(), self.shape(), wide) && wide == self.shape();
  call.require(fits, "mask does not broadcast to the shape of selfRef");
}

// self = value where the mask is true; the value is a view of one element of self's dtype.
void fill_masked(const View &self, const View &mask, const View &value) {
  const View wide = mask.expand(self.shape);
  const std::array<const View *, 2> views{&self, &wide};
  with_cell(self.dtype, [&](auto cell) {
    using T = decltype(cell);
    const T filler = *value.at<T>(0);
    for_rows(views, [&](int64_t n, const auto &starts, const auto &strides) {
      auto *element = reinterpret_cast<T *>(starts[0]);
      for (int64_t i = 0; i < n; ++i) {
        if (starts[1][i * strides[1]] != 0) element[i * strides[0]] = filler;
      }
    });
  });
}

// For every element of self whose mask is true f(element, how many came before); gives their
// number.
template <class T, class F>
int64_t for_masked(const View &self, const View &mask, F f) {
  const View wide = self.expand(mask.shape);
  const std::array<const View *, 2> views{&wide, &mask};
  int64_t count = 0;
  for_rows(views, [&](int64_t n, const auto &starts, const auto &strides) {
    auto *element = reinterpret_cast<T *>(starts[0]);
    for (int64_t i = 0; i < n; ++i) {
      if (starts[1][i * strides[1]] != 0) f(element[i * strides[0]], count++);
    }
  });
  return count;
}

// The places in row-major order of what is not 0.
std::vector<int64_t> nonzero_places(const View &view) {
  std::vector<int64_t> places;
  with_number<ALL_NUMBERS>(view.dtype, [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> all = gathered<C>(view);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] != C{}) places.push_back(static_cast<int64_t>(i));
    }
  });
  return places;
}

int64_t coordinate(const Dims &shape, const Dims &steps, size_t d, int64_t place) {
  return place / steps[d] % shape[d];
}

}  // namespace

ACLNN(InplaceMaskedFillScalar, (aclTensor * selfRef, const aclTensor *mask, const aclScalar *value),
      (selfRef, mask, value)) {
  const Operand to = call.inout(selfRef, "selfRef", FILLED), where = call.in(mask, "mask", BOOL);
  const Number number = call.scalar(value, "value");
  check_mask(call, where, to);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const Buffer one(to.dtype(), {});
    fill(one.view(), number);
    fill_masked(launch[to], launch[where], one.view());
  });
}

ACLNN(InplaceMaskedFillTensor, (aclTensor * selfRef, const aclTensor *mask, const aclTensor *value),
      (selfRef, mask, value)) {
  const Operand to = call.inout(selfRef, "selfRef", FILLED), where = call.in(mask, "mask", BOOL);
  const Operand number = call.in(value, "value", FILLED);
  check_mask(call, where, to);
  call.require(number.numel() == 1, "value must have one element");
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    View from = launch[number];
    from.shape = from.strides = {};
    const Buffer one(to.dtype(), {});
    convert(one.view(), from);
    fill_masked(launch[to], launch[where], one.view());
  });
}

ACLNN(InplaceMaskedScatter, (aclTensor * selfRef, const aclTensor *mask, const aclTensor *source),
      (selfRef, mask, source)) {
  const Operand to = call.inout(selfRef, "selfRef", REAL10),
                where = call.in(mask, "mask", U8 | BOOL);
  const Operand from = call.in(source, "source");
  check_mask(call, where, to);
  call.dtype_is(from, to.dtype());
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const Buffer values(from.dtype(), from.shape());
    move(values.view(), launch[from]);
    with_cell(to.dtype(), [&](auto cell) {
      using T = decltype(cell);
      for_masked<T>(launch[to], launch[where].expand(to.shape()), [&](T &element, int64_t i) {
        if (i >= from.numel()) launch.fault("source has fewer elements than mask has true ones");
        element = *values.view().at<T>(i);
      });
    });
  });
}

ACLNN(MaskedSelect, (const aclTensor *self, const aclTensor *mask, aclTensor *out),
      (self, mask, out)) {
  const Operand from = call.in(self, "self", REAL10), where = call.in(mask, "mask", U8 | BOOL);
  const Operand to = call.out(out, "out", REAL10);
  Dims shape;
  call.require(broadcast(from.shape(), where.shape(), shape), "self and mask do not broadcast");
  call.dtype_is(to, from.dtype());
  call.contiguous(to);
  call.require(to.dim() == 1 && to.numel() == numel(shape),
               "out must have as many elements as self and mask together, in 1 dimension");
  call.waits();
  call.run([=](Launch &launch) {
    int64_t count = 0;
    with_cell(from.dtype(), [&](auto cell) {
      using T = decltype(cell);
      T *next = launch[to].at<T>(0);
      count = for_masked<T>(launch[from].expand(shape), launch[where].expand(shape),
                            [&](const T &element, int64_t) { *next++ = element; });
    });
    launch.resize(to, {count});
  });
}

ACLNN(Nonzero, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand from = call.in(self, "self", REAL10 | WIDE_UNSIGNED),
                to = call.out(out, "out", I64);
  call.contiguous(to);
  call.shape_is(to, {from.numel(), from.dim()});
  call.waits();
  call.run([=](Launch &launch) {
    const std::vector<int64_t> places = nonzero_places(launch[from]);
    const Dims steps = contiguous_strides(from.shape());
    int64_t *next = launch[to].at<int64_t>(0);
    for (const int64_t place : places) {
      for (size_t d = 0; d < steps.size(); ++d) *next++ = coordinate(from.shape(), steps, d, place);
    }
    launch.resize(to, {static_cast<int64_t>(places.size()), from.dim()});
  });
}

// The coordinates of one dim together; they lie densely at the start of out.
ACLNN(NonzeroV2, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand from = call.in(self, "self", REAL10 | WIDE_UNSIGNED),
                to = call.out(out, "out", I64);
  call.contiguous(to);
  call.shape_is(to, {from.dim(), from.numel()});
  call.waits();
  call.run([=](Launch &launch) {
    const std::vector<int64_t> places = nonzero_places(launch[from]);
    const Dims steps = contiguous_strides(from.shape());
    int64_t *next = launch[to].at<int64_t>(0);
    for (size_t d = 0; d < steps.size(); ++d) {
      for (const int64_t place : places) *next++ = coordinate(from.shape(), steps, d, place);
    }
    launch.resize(to, {from.dim(), static_cast<int64_t>(places.size())});
  });
}
