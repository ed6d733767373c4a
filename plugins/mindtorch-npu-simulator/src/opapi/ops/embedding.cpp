// Embeddings and one-hot vectors.
#include "../indexed.h"

using namespace sim;

ACLNN(Embedding, (const aclTensor *weight, const aclTensor *indices, aclTensor *out),
      (weight, indices, out)) {
  const Operand table = call.in(weight, "weight", NUM12), at = call.in(indices, "indices", IDX);
  const Operand to = call.out(out, "out", NUM12);
  call.require(table.dim() == 2, "weight must have 2 dimensions");
  call.dtype_is(to, table.dtype());
  Dims shape = at.shape();
  shape.push_back(table.shape()[1]);
  call.shape_is(to, shape);
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(table));
  call.run([=](Launch &launch) {
    const View &rows = launch[table];
    Selected chosen{offsets_of(launch, launch[at], rows.shape[0], rows.strides[0], false), {}, {}};
    chosen.base = {rows.dtype, shape, Dims(shape.size(), 0), rows.data};
    chosen.base.strides.back() = rows.strides[1];
    Dims strides = contiguous_strides(at.shape());
    strides.push_back(0);
    chosen.offsets = {ACL_INT64, shape, strides, reinterpret_cast<char *>(chosen.memory.data())};
    fetch(launch[to], chosen);
  });
}

ACLNN(EmbeddingDenseBackward,
      (const aclTensor *grad, const aclTensor *indices, uint64_t numWeights, uint64_t paddingIdx,
       bool scaleGradByFreq, aclTensor *out),
      (grad, indices, numWeights, paddingIdx, scaleGradByFreq, out)) {
  const Operand g = call.in(grad, "grad", FLT3), at = call.in(indices, "indices", REAL10 & ~BF16);
  const Operand to = call.out(out, "out");
  call.dtype_is(to, g.dtype());
  call.require(g.dim() > 0 && g.numel() == at.numel() * g.shape().back(),
               "grad does not have the shape of indices and a vector");
  const int64_t size = g.shape().back();
  call.shape_is(to, {static_cast<int64_t>(numWeights), size});
  if (to.numel() == 0) return;
  call.workspace(packed_bytes(g) + numWeights * 4);
  call.run([=](Launch &launch) {
    const std::vector<float> grads = gathered<float>(launch[g]);
    const std::vector<int64_t> rows = gathered<int64_t>(launch[at]);
    std::vector<double> sums(static_cast<size_t>(to.numel()), 0.0);
    std::vector<int64_t> counts(numWeights, 0);
    for (const int64_t row : rows) {
      if (row < 0 || static_cast<uint64_t>(row) >= numWeights)
        launch.fault("index " + std::to_string(row) + " is out of range");
      ++counts[static_cast<size_t>(row)];
    }
    const float *next = grads.data();
    for (const int64_t row : rows) {
      const auto k = static_cast<size_t>(row);
      const double by = scaleGradByFreq ? 1.0 / static_cast<double>(counts[k]) : 1.0;
      for (int64_t i = 0; i < size; ++i, ++next) {
        if (k != paddingIdx)
          sums[k * static_cast<size_t>(size) + static_cast<size_t>(i)] += by * *next;
      }
    }
    scattered(launch[to], sums);
  });
}

ACLNN(OneHot,
      (const aclTensor *self, int32_t numClasses, const aclTensor *onValue,
       const aclTensor *offValue, int64_t axis, aclTensor *out),
      (self, numClasses, onValue, offValue, axis, out)) {
  constexpr DTypes values = F32 | F16 | I8 | I32 | I64 | U8;
  const Operand labels = call.in(self, "self", I32 | I64 | U8), to = call.out(out, "out", values);
  const Operand on = call.in(onValue, "onValue", values),
                off = call.in(offValue, "offValue", values);
  call.dtype_is(on, to.dtype());
  call.dtype_is(off, to.dtype());
  call.require(on.numel() == 1 && off.numel() == 1, "onValue and offValue must have one element");
  call.require(numClasses >= 0, "numClasses is negative");
  call.require(-1 <= axis && axis <= labels.dim(), "axis is out of range");
  const auto at = static_cast<ptrdiff_t>(axis == -1 ? labels.dim() : axis);
  Dims shape = labels.shape();
  shape.insert(shape.begin() + at, numClasses);
  call.shape_is(to, shape);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    const auto single = [&](const Operand &operand) {
      View one = launch[operand];
      one.shape = one.strides = {};
      return one;
    };
    move(launch[to], single(off));
    std::vector<int64_t> classes = gathered<int64_t>(launch[labels]);
    const View of_labels = view_of(classes, labels.shape());
    // A label that is no class leaves its line as it is.
    for (int64_t c = 0; c < numClasses; ++c) {
      const View line = launch[to].select(static_cast<size_t>(at), c);
      const std::array<const View *, 2> views{&line, &of_labels};
      with_cell(to.dtype(), [&](auto cell) {
        using T = decltype(cell);
        const T hot = *single(on).template at<T>(0);
        for_rows(views, [&](int64_t n, const auto &starts, const auto &strides) {
          auto *element = reinterpret_cast<T *>(starts[0]);
          const auto *label = reinterpret_cast<const int64_t *>(starts[1]);
          for (int64_t i = 0; i < n; ++i) {
            if (label[i * strides[1]] == c) element[i * strides[0]] = hot;
          }
        });
      });
    }
  });
}
