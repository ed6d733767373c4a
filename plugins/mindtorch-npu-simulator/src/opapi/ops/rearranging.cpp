// Elements in another order or number: slices, permutations, repeats, flips, rolls, triangles.
#include "../moving.h"
#include "../sizes.h"

using namespace sim;

namespace {

constexpr DTypes SLICED = REAL10 & ~(F64 | I16);
constexpr DTypes TRIANGULAR = REAL10 | WIDE_UNSIGNED | C64;

// out = a view of self that `how` makes when the data are known; it has out's shape.
template <class How>
void rearranged(Call &call, const Operand &self, const Operand &out, How how) {
  call.dtype_is(out, self.dtype());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) { move(launch[out], how(launch[self])); });
}

// What a slice takes of a dim: from start on, every step-th.
struct Slice {
  size_t dim;
  int64_t start, length, step;
};

Slice slice_of(Call &call, const Operand &self, int64_t dim, int64_t start, int64_t end,
               int64_t step) {
  call.require(self.dim() > 0, "self has no dimensions");
  call.require(step > 0, "a step is not positive");
  const auto along = static_cast<size_t>(call.axis(dim, self));
  const int64_t size = self.shape()[along];
  const auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t first = bound(start), last = std::max(bound(end), first);
  return {along, first, last == first ? 0 : (last - first - 1) / step + 1, step};
}

void sliced(Call &call, const Operand &self, const std::vector<Slice> &slices, const Operand &out) {
  Dims shape = self.shape();
  for (const Slice &slice : slices) shape[slice.dim] = slice.length;
  call.shape_is(out, shape);
  rearranged(call, self, out, [=](View view) {
    for (const Slice &slice : slices) {
      view = view.narrow(slice.dim, slice.start, slice.length);
      if (slice.length > 1) view.strides[slice.dim] *= slice.step;
    }
    return view;
  });
}

// The part of a matrix on one side of a diagonal; 0 elsewhere.
void triangle(Call &call, const Operand &self, int64_t diagonal, const Operand &out, bool lower) {
  call.require(self.dim() >= 2, self.name() + " has fewer than 2 dimensions");
  call.shape_is(out, self.shape());
  call.dtype_is(out, self.dtype());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const int64_t rows = self.shape()[self.shape().size() - 2], columns = self.shape().back();
    with_number<ALL_NUMBERS>(self.dtype(), [&](auto zero) {
      using C = decltype(zero);
      int64_t i = 0;
      const auto kept = [&](C x) {
        const int64_t above = i % columns - i / columns % rows;
        ++i;
        return (lower ? above <= diagonal : above >= diagonal) ? x : C{};
      };
      elementwise<C>(launch[out], kept, launch[self]);
    });
  });
}

// A matrix of 0 with a vector on one of its diagonals.
void on_diagonal(const View &matrix, const View &vector, int64_t diagonal) {
  const Buffer zero(matrix.dtype, {});
  move(matrix, zero.view());
  View line{matrix.dtype, vector.shape, {matrix.strides[0] + matrix.strides[1]}, matrix.data};
  line.data += (diagonal < 0 ? -diagonal * matrix.strides[0] : diagonal * matrix.strides[1]) *
               static_cast<int64_t>(item_size(matrix.dtype));
  move(line, vector);
}

void matrix_of_diagonal(Call &call, const Operand &self, int64_t diagonal, const Operand &out) {
  size_is_possible(call, diagonal, "diagonal");
  const int64_t size = self.numel() + std::abs(diagonal);
  call.dtype_is(out, self.dtype());
  call.shape_is(out, {size, size});
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const Buffer copy(self.dtype(), self.shape());
    move(copy.view(), launch[self]);
    View flat = copy.view();
    flat.shape = {self.numel()};
    flat.strides = {1};
    on_diagonal(launch[out], flat, diagonal);
  });
}

void diagonal_of_matrix(Call &call, const Operand &self, int64_t diagonal, const Operand &out) {
  size_is_possible(call, diagonal, "diagonal");
  const int64_t rows = self.shape()[0], columns = self.shape()[1];
  const int64_t row = std::max<int64_t>(-diagonal, 0), column = std::max<int64_t>(diagonal, 0);
  call.shape_is(out, {std::max<int64_t>(std::min(rows - row, columns - column), 0)});
  rearranged(call, self, out, [=](const View &view) {
    View line{view.dtype, out.shape(), {view.strides[0] + view.strides[1]}, view.data};
    line.data += (row * view.strides[0] + column * view.strides[1]) *
                 static_cast<int64_t>(item_size(view.dtype));
    return line;
  });
}

}  // namespace

// ---- slices and permutations --------------------------------------------------------------------

ACLNN(Slice,
      (const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
       aclTensor *out),
      (self, dim, start, end, step, out)) {
  const Operand from = call.in(self, "self", SLICED), to = call.out(out, "out");
  sliced(call, from, {slice_of(call, from, dim, start, end, step)}, to);
}

ACLNN(SliceV2,
      (const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends,
       const aclIntArray *axes, const aclIntArray *steps, aclTensor *out),
      (self, starts, ends, axes, steps, out)) {
  const Operand from = call.in(self, "self", SLICED), to = call.out(out, "out", SLICED);
  const Dims first = call.ints(starts, "starts"), last = call.ints(ends, "ends");
  const Dims dims = call.ints(axes, "axes"), by = call.ints(steps, "steps");
  call.require(
      first.size() == dims.size() && last.size() == dims.size() && by.size() == dims.size(),
      "starts, ends, axes and steps have different lengths");
  call.axes(dims, from);
  std::vector<Slice> slices;
  for (size_t i = 0; i < dims.size(); ++i)
    slices.push_back(slice_of(call, from, dims[i], first[i], last[i], by[i]));
  sliced(call, from, slices, to);
}

ACLNN(Permute, (const aclTensor *self, const aclIntArray *dims, aclTensor *out),
      (self, dims, out)) {
  const Operand from = call.in(self, "self"), to = call.out(out, "out");
  const Dims order = call.ints(dims, "dims");
  call.require(static_cast<int64_t>(order.size()) == from.dim(),
               "dims does not name every dim of self");
  call.axes(order, from);
  std::vector<size_t> turned;
  Dims shape;
  for (const int64_t dim : order) {
    turned.push_back(static_cast<size_t>(call.axis(dim, from)));
    shape.push_back(from.shape()[turned.back()]);
  }
  call.shape_is(to, shape);
  rearranged(call, from, to, [=](const View &view) { return view.permute(turned); });
}

ACLNN(Expand, (const aclTensor *self, const aclIntArray *size, aclTensor *out), (self, size, out)) {
  const Operand from = call.in(self, "self", SLICED), to = call.out(out, "out");
  Dims shape = call.ints(size, "size"), wide;
  call.require(shape.size() >= from.shape().size(), "size has fewer dims than self");
  const size_t missing = shape.size() - from.shape().size();
  for (size_t d = 0; d < from.shape().size(); ++d) {
    if (shape[d + missing] == -1) shape[d + missing] = from.shape()[d];
  }
  call.require(broadcast(from.shape(), shape, wide) && wide == shape,
               "self does not expand to size");
  call.shape_is(to, shape);
  rearranged(call, from, to, [=](const View &view) { return view.expand(shape); });
}

ACLNN(Flatten, (const aclTensor *self, int64_t axis, aclTensor *out), (self, axis, out)) {
  const Operand from = call.in(self, "self", (REAL10 & ~F64) | WIDE_UNSIGNED),
                to = call.out(out, "out");
  call.require(-from.dim() <= axis && axis <= from.dim(), "axis is out of range");
  const auto at = static_cast<ptrdiff_t>(axis < 0 ? axis + from.dim() : axis);
  const Dims &shape = from.shape();
  call.shape_is(
      to, {numel({shape.begin(), shape.begin() + at}), numel({shape.begin() + at, shape.end()})});
  call.dtype_is(to, from.dtype());
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const Buffer copy(from.dtype(), shape);
    move(copy.view(), launch[from]);
    View flat = copy.view();
    flat.shape = to.shape();
    flat.strides = contiguous_strides(to.shape());
    move(launch[to], flat);
  });
}

// ---- repeats, flips, rolls ----------------------------------------------------------------------

ACLNN(Repeat, (const aclTensor *self, const aclIntArray *repeats, aclTensor *out),
      (self, repeats, out)) {
  const Operand from = call.in(self, "self"), to = call.out(out, "out");
  const Dims times = call.ints(repeats, "repeats");
  call.require(times.size() >= from.shape().size(),
               "repeats has fewer elements than self has dims");
  const size_t missing = times.size() - from.shape().size();
  Dims shape, tiled, steps;  // out's dims as pairs of (repeat, size)
  for (size_t d = 0; d < times.size(); ++d) {
    call.require(times[d] >= 0, "repeats has a negative element");
    size_is_possible(call, times[d], "an element of repeats");
    const int64_t size = d < missing ? 1 : from.shape()[d - missing];
    shape.push_back(times[d] * size);
    tiled.insert(tiled.end(), {times[d], size});
  }
  call.shape_is(to, shape);
  call.dtype_is(to, from.dtype());
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    View target{to.dtype(), tiled, {}, launch[to].data},
        source{to.dtype(), tiled, {}, launch[from].data};
    for (size_t d = 0; d < times.size(); ++d) {
      const int64_t step = launch[to].strides[d];
      target.strides.insert(target.strides.end(), {step * tiled[2 * d + 1], step});
      source.strides.insert(source.strides.end(),
                            {0, d < missing ? 0 : launch[from].strides[d - missing]});
    }
    move(target, source);
  });
}

ACLNN(Flip, (const aclTensor *self, const aclIntArray *dims, aclTensor *out), (self, dims, out)) {
  const Operand from = call.in(self, "self", NUM12), to = call.out(out, "out");
  const Dims list = call.ints(dims, "dims");
  const std::vector<bool> flipped =
      list.empty() ? std::vector<bool>(from.shape().size(), false) : call.axes(list, from);
  call.shape_is(to, from.shape());
  rearranged(call, from, to, [=](View view) {
    for (size_t d = 0; d < flipped.size(); ++d) {
      if (!flipped[d]) continue;
      view.data +=
          (view.shape[d] - 1) * view.strides[d] * static_cast<int64_t>(item_size(view.dtype));
      view.strides[d] = -view.strides[d];
    }
    return view;
  });
}

ACLNN(Roll,
      (const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims, aclTensor *out),
      (x, shifts, dims, out)) {
  const Operand from = call.in(x, "x", FLT3 | INT5 | U32 | BOOL | C64), to = call.out(out, "out");
  const Dims by = call.ints(shifts, "shifts"), list = call.ints(dims, "dims");
  call.require(by.size() == list.size(), "shifts and dims have different lengths");
  call.dtype_is(to, from.dtype());
  call.shape_is(to, from.shape());
  Dims amounts(from.shape().size(), 0);
  for (size_t i = 0; i < list.size(); ++i) {
    const auto along = static_cast<size_t>(call.axis(list[i], from));
    if (to.numel() != 0 && to.dim() != 0) amounts[along] += by[i] % to.shape()[along];
  }
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    // One dim after the other; each time two parts change places.
    const Buffer now(from.dtype(), from.shape()), next(from.dtype(), from.shape());
    move(now.view(), launch[from]);
    for (size_t d = 0; d < amounts.size(); ++d) {
      const int64_t size = from.shape()[d], shift = (amounts[d] % size + size) % size;
      if (shift == 0) continue;
      move(next.view().narrow(d, shift, size - shift), now.view().narrow(d, 0, size - shift));
      move(next.view().narrow(d, 0, shift), now.view().narrow(d, size - shift, shift));
      move(now.view(), next.view());
    }
    move(launch[to], now.view());
  });
}

// ---- triangles and diagonals --------------------------------------------------------------------

ACLNN(Tril, (const aclTensor *self, int64_t diagonal, aclTensor *out), (self, diagonal, out)) {
  const Operand from = call.in(self, "self", TRIANGULAR);
  triangle(call, from, diagonal, call.out(out, "out", TRIANGULAR), true);
}

ACLNN(InplaceTril, (aclTensor * selfRef, int64_t diagonal), (selfRef, diagonal)) {
  const Operand target = call.inout(selfRef, "selfRef", TRIANGULAR);
  triangle(call, target, diagonal, target, true);
}

ACLNN(Triu, (const aclTensor *self, int64_t diagonal, aclTensor *out), (self, diagonal, out)) {
  const Operand from = call.in(self, "self", TRIANGULAR);
  triangle(call, from, diagonal, call.out(out, "out", TRIANGULAR), false);
}

ACLNN(InplaceTriu, (aclTensor * selfRef, int64_t diagonal), (selfRef, diagonal)) {
  const Operand target = call.inout(selfRef, "selfRef", TRIANGULAR);
  triangle(call, target, diagonal, target, false);
}

ACLNN(Diag, (const aclTensor *self, int64_t diagonal, aclTensor *out), (self, diagonal, out)) {
  const Operand from = call.in(self, "self", REAL10 | C64), to = call.out(out, "out");
  call.require(from.dim() == 1 || from.dim() == 2, "self must have 1 or 2 dimensions");
  if (from.dim() == 1) return matrix_of_diagonal(call, from, diagonal, to);
  diagonal_of_matrix(call, from, diagonal, to);
}

ACLNN(DiagFlat, (const aclTensor *self, int64_t diagonal, aclTensor *out), (self, diagonal, out)) {
  const Operand from = call.in(self, "self", REAL10 | C64);
  matrix_of_diagonal(call, from, diagonal, call.out(out, "out"));
}
