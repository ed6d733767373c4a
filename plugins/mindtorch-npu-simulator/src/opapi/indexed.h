// Elements that tensors of indices select, and accumulation into them.
#pragma once

#include "moving.h"

namespace sim {

// Selected elements, as `through` takes them: the element at a place of `base` is as many elements
// further on as `offsets` has there. Both views have the shape of the values that go with them.
struct Selected {
  std::vector<int64_t> memory;  // the offsets, which the view refers to
  View offsets, base;
};

// Along one dim the elements at a list of indices, in the other dims all (index_select's family).
Selected select_lines(const Launch &launch, const View &target, size_t dim, const View &list,
                      bool negative);

// Along one dim the element at an index of its own for every place (gather's family).
Selected select_along(const Launch &launch, const View &target, size_t dim, const View &index,
                      bool negative);

// Elements by their place in row-major order (take's family).
Selected select_flat(const Launch &launch, const View &target, const View &index);

// Elements by the indices of several dims, as in x[i, :, j]; a view without data is a dim that is
// taken whole. Boolean indices are masks over as many dims as they have.
Selected select_indexed(const Launch &launch, const View &target, const std::vector<View> &indices);

// The shape of that selection as far as phase one knows it: false if a mask makes it depend on
// data.
bool indexed_shape(const Call &call, const Operand &target, const std::vector<Operand> &indices,
                   Dims &shape);

// How a value joins the element that is there.
enum class Join { REPLACE, ADD, MULTIPLY, MAXIMUM, MINIMUM };

// Joins each value to its element, in row-major order of the values.
void join(Join how, const View &values, const Selected &to);

// values = the selected elements.
void fetch(const View &values, const Selected &from);

}  // namespace sim
