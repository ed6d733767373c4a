// Selection by indices: gather, take, index and their inverses.
#include "../indexed.h"

using namespace sim;

namespace {

constexpr DTypes GATHERED = REAL10 | WIDE_UNSIGNED;

// The checks of index_select's family; gives the dim.
size_t lines_checked(Call &call, const Operand &self, int64_t dim, const Operand &index) {
  call.require(index.dim() <= 1, "index must have 0 or 1 dimensions");
  return static_cast<size_t>(call.axis(dim, self));
}

// The shape with another size in one dim; a tensor without dims counts as one with one.
Dims resized(Dims shape, size_t dim, int64_t size) {
  if (shape.empty()) return {};
  shape[dim] = size;
  return shape;
}

void index_select(Call &call, const Operand &self, int64_t dim, const Operand &index,
                  const Operand &out, bool negative) {
  const size_t along = lines_checked(call, self, dim, index);
  call.dtype_is(out, self.dtype());
  call.require(self.dim() > 0 || index.numel() == 1,
               "self has no dimensions, so index must have one element");
  call.shape_is(out, resized(self.shape(), along, index.numel()));
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    const View from = with_a_dim(launch[self]);
    fetch(with_a_dim(launch[out]), select_lines(launch, from, along, launch[index], negative));
  });
}

// self[:, index] joined with source, after out has become self where it is another tensor.
void put_lines(Call &call, const Operand &self, int64_t dim, const Operand &index,
               const Operand &source, const Operand &out, Join how, const Number *alpha) {
  const size_t along = lines_checked(call, self, dim, index);
  call.dtype_is(source, self.dtype());
  call.dtype_is(out, self.dtype());
  call.shape_is(out, self.shape());
  const int64_t count =
      source.dim() == 0 ? 1 : source.shape()[std::min(along, source.shape().size() - 1)];
  call.require(index.numel() == count, "index and source have different lengths");
  call.require(resized(self.shape(), along, count) == (self.dim() == 0 ? Dims{} : source.shape()),
               "source does not have the shape of self but for dim");
  if (out.numel() == 0) return;
  const Number by = alpha == nullptr ? Number{} : *alpha;
  const bool scaled = alpha != nullptr;
  call.run([=](Launch &launch) {
    move(launch[out], launch[self]);
    const View to = with_a_dim(launch[out]), from = with_a_dim(launch[source]);
    const Selected lines = select_lines(launch, to, along, launch[index], false);
    if (!scaled) return join(how, from, lines);
    const Buffer product(from.dtype, from.shape);
    with_number<REALS | WHOLE>(from.dtype, [&](auto zero) {
      using C = decltype(zero);
      const C factor = by.as<C>();
      elementwise<C>(product.view(), [=](C x) { return times(factor, x); }, from);
    });
    join(how, product.view(), lines);
  });
}

// A fill of self[:, index], with the indices of a tensor or of an array.
template <class Indices>
void fill_lines(Call &call, const Operand &self, size_t along, const Number &value,
                const Operand &out, Indices indices) {
  call.dtype_is(out, self.dtype());
  call.shape_is(out, self.shape());
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    move(launch[out], launch[self]);
    const View to = with_a_dim(launch[out]);
    for (const int64_t offset : indices(launch, to)) {
      View line = to.select(along, 0);
      line.data += offset * static_cast<int64_t>(item_size(to.dtype));
      fill(line, value);
    }
  });
}

void fill_lines(Call &call, const Operand &self, int64_t dim, const Operand &index,
                const aclScalar *value, const Operand &out) {
  const size_t along = lines_checked(call, self, dim, index);
  fill_lines(call, self, along, call.scalar(value, "value"), out,
             [=](Launch &launch, const View &to) {
               return offsets_of(launch, launch[index], to.shape[along], to.strides[along], true);
             });
}

void fill_lines(Call &call, const Operand &self, int64_t dim, Dims list, const aclScalar *value,
                const Operand &out) {
  const auto along = static_cast<size_t>(call.axis(dim, self));
  const int64_t size = self.dim() == 0 ? 1 : self.shape()[along];
  for (int64_t &at : list) {
    call.require(-size <= at && at < size, "index " + std::to_string(at) + " is out of range");
    if (at < 0) at += size;
  }
  fill_lines(call, self, along, call.scalar(value, "value"), out, [=](Launch &, const View &to) {
    Dims offsets = list;
    for (int64_t &offset : offsets) offset *= to.strides[along];
    return offsets;
  });
}

std::vector<View> views_of(const Launch &launch, const std::vector<Operand> &operands) {
  std::vector<View> views;
  for (const Operand &operand : operands) {
    views.push_back(launch[operand]);
    if (operand.numel() == 0) views.back().data = nullptr;
  }
  return views;
}

void take_from(Call &call, const Operand &self, const Operand &index, const Operand &values) {
  call.dtype_is(values, self.dtype());
  call.require(self.numel() > 0 || index.numel() == 0, self.name() + " has no elements to take");
}

}  // namespace

// ---- by lines -----------------------------------------------------------------------------------

ACLNN(IndexSelect, (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out),
      (self, dim, index, out)) {
  const Operand from = call.in(self, "self"), at = call.in(index, "index", IDX),
                to = call.out(out, "out");
  index_select(call, from, dim, at, to, false);
}

ACLNN(GatherV2, (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out),
      (self, dim, index, out)) {
  const Operand from = call.in(self, "self", NUM12), at = call.in(index, "index", IDX),
                to = call.out(out, "out");
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.dtype_is(to, from.dtype());
  call.require(from.dim() > 0, "self has no dimensions");
  Dims shape = from.shape();
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(along));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(along), at.shape().begin(), at.shape().end());
  call.shape_is(to, shape);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    // An index of one dim, and its shape given back where the result is stored.
    const Buffer lines(from.dtype(), resized(from.shape(), along, at.numel()));
    fetch(lines.view(), select_lines(launch, launch[from], along, launch[at], true));
    View folded = lines.view();
    folded.shape = shape;
    folded.strides = contiguous_strides(shape);
    move(launch[to], folded);
  });
}

ACLNN(IndexAdd,
      (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source,
       const aclScalar *alpha, aclTensor *out),
      (self, dim, index, source, alpha, out)) {
  const Operand from = call.in(self, "self", REAL10), at = call.in(index, "index", IDX);
  const Operand values = call.in(source, "source"), to = call.out(out, "out");
  const Number by = call.scalar(alpha, "alpha");
  put_lines(call, from, dim, at, values, to, Join::ADD, &by);
}

ACLNN(IndexCopy,
      (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclTensor *source,
       aclTensor *outRef),
      (selfRef, dim, index, source, outRef)) {
  const Operand from = call.inout(selfRef, "selfRef", NUM12 | U32 | U64),
                at = call.in(index, "index", IDX);
  const Operand values = call.in(source, "source");
  put_lines(call, from, dim, at, values, call.out(outRef, "outRef"), Join::REPLACE, nullptr);
}

ACLNN(InplaceIndexCopy,
      (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclTensor *source),
      (selfRef, dim, index, source)) {
  const Operand self = call.inout(selfRef, "selfRef", NUM12 | U32 | U64),
                at = call.in(index, "index", IDX);
  put_lines(call, self, dim, at, call.in(source, "source"), self, Join::REPLACE, nullptr);
}

ACLNN(IndexFill,
      (const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value,
       aclTensor *out),
      (self, dim, index, value, out)) {
  const Operand from = call.in(self, "self", REAL10), at = call.in(index, "index", IDX);
  fill_lines(call, from, dim, at, value, call.out(out, "out"));
}

ACLNN(InplaceIndexFill,
      (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclScalar *value),
      (selfRef, dim, index, value)) {
  const Operand target = call.inout(selfRef, "selfRef", REAL10);
  fill_lines(call, target, dim, call.in(index, "index", IDX), value, target);
}

ACLNN(IndexFillTensor,
      (const aclTensor *self, int64_t dim, const aclIntArray *index, const aclScalar *value,
       aclTensor *out),
      (self, dim, index, value, out)) {
  const Operand from = call.in(self, "self", FLT3 | IDX | BOOL), to = call.out(out, "out");
  fill_lines(call, from, dim, call.ints(index, "index"), value, to);
}

ACLNN(InplaceIndexFillTensor,
      (aclTensor * selfRef, int64_t dim, const aclIntArray *index, const aclScalar *value),
      (selfRef, dim, index, value)) {
  const Operand target = call.inout(selfRef, "selfRef", FLT3 | IDX | BOOL);
  fill_lines(call, target, dim, call.ints(index, "index"), value, target);
}

// ---- by single elements -------------------------------------------------------------------------

ACLNN(Gather, (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out),
      (self, dim, index, out)) {
  const Operand from = call.in(self, "self", GATHERED), at = call.in(index, "index", IDX),
                to = call.out(out, "out");
  const auto along = static_cast<size_t>(call.axis(dim, from));
  call.dtype_is(to, from.dtype());
  call.shape_is(to, at.shape());
  if (to.numel() == 0) return;
  call.require(std::max<int64_t>(from.dim(), 1) == std::max<int64_t>(at.dim(), 1),
               "self and index differ in rank");
  for (size_t d = 0; d < std::min(at.shape().size(), from.shape().size()); ++d) {
    call.require(d == along || at.shape()[d] <= from.shape()[d],
                 "index is larger than self in a dim that is not dim");
  }
  call.run([=](Launch &launch) {
    const View source = with_a_dim(launch[from]), index_view = with_a_dim(launch[at]);
    fetch(with_a_dim(launch[to]), select_along(launch, source, along, index_view, true));
  });
}

ACLNN(Take, (const aclTensor *self, const aclTensor *index, aclTensor *out), (self, index, out)) {
  const Operand from = call.in(self, "self"), at = call.in(index, "index", IDX),
                to = call.out(out, "out");
  take_from(call, from, at, to);
  call.shape_is(to, at.shape());
  if (to.numel() == 0) return;
  call.run(
      [=](Launch &launch) { fetch(launch[to], select_flat(launch, launch[from], launch[at])); });
}

ACLNN(InplacePut,
      (aclTensor * selfRef, const aclTensor *index, const aclTensor *source, bool accumulate),
      (selfRef, index, source, accumulate)) {
  const Operand to = call.inout(selfRef, "selfRef", NUM12), at = call.in(index, "index", IDX);
  const Operand from = call.in(source, "source");
  take_from(call, to, at, from);
  call.require(from.numel() == at.numel(), "index and source have different numbers of elements");
  if (at.numel() == 0) return;
  call.run([=](Launch &launch) {
    Buffer values(from.dtype(), from.shape());
    move(values.view(), launch[from]);
    View flat = values.view();
    flat.shape = at.shape();
    flat.strides = contiguous_strides(at.shape());
    join(accumulate ? Join::ADD : Join::REPLACE, flat, select_flat(launch, launch[to], launch[at]));
  });
}

// ---- by lists of indices ------------------------------------------------------------------------

ACLNN(Index, (const aclTensor *self, const aclTensorList *indices, aclTensor *out),
      (self, indices, out)) {
  const Operand from = call.in(self, "self", REAL10 | C64);
  const std::vector<Operand> at = call.list(indices, "indices", IDX | BOOL);
  const Operand to = call.out(out, "out");
  call.dtype_is(to, from.dtype());
  if (to.numel() == 0) return;
  Dims shape;
  if (indexed_shape(call, from, at, shape)) call.shape_is(to, shape);
  call.run([=](Launch &launch) {
    const Selected chosen = select_indexed(launch, launch[from], views_of(launch, at));
    if (chosen.base.shape != to.shape())
      launch.fault("out does not have the shape that the masks make");
    fetch(launch[to], chosen);
  });
}

ACLNN(IndexPutImpl,
      (aclTensor * selfRef, const aclTensorList *indices, const aclTensor *values, bool accumulate,
       bool unsafe),
      (selfRef, indices, values, accumulate, unsafe)) {
  (void)unsafe;  // indices are always checked here
  const Operand to = call.inout(selfRef, "selfRef", REAL10);
  const std::vector<Operand> at = call.list(indices, "indices", IDX | BOOL);
  const Operand from = call.in(values, "values");
  call.dtype_is(from, to.dtype());
  if (to.numel() == 0 || from.numel() == 0) return;
  Dims shape, wide;
  if (indexed_shape(call, to, at, shape)) {
    call.require(broadcast(from.shape(), shape, wide) && wide == shape,
                 "values do not broadcast to what is indexed");
  }
  call.run([=](Launch &launch) {
    const Selected chosen = select_indexed(launch, launch[to], views_of(launch, at));
    Dims fitted;
    if (!broadcast(from.shape(), chosen.base.shape, fitted) || fitted != chosen.base.shape) {
      launch.fault("values do not broadcast to what the masks select");
    }
    join(accumulate ? Join::ADD : Join::REPLACE, launch[from].expand(chosen.base.shape), chosen);
  });
}
