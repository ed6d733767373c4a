// Products of matrices, vectors and batches of matrices.
#include "../moving.h"
#include "../products.h"

using namespace sim;

namespace {

// beta * self + alpha * (a @ b)
struct Terms {
  float beta = 0, alpha = 1;
  int8_t cube = KEEP_DTYPE;
};

// A dim of one element more.
View with_dim(View view, int64_t at) {
  view.shape.insert(view.shape.begin() + at, 1);
  view.strides.insert(view.strides.begin() + at, 0);
  return view;
}

View transposed(const View &view) { return view.permute({1, 0}); }

std::vector<float> cube_input(const View &view, int8_t cube) {
  std::vector<float> values = gathered<float>(view);
  round_for_cube(values, cube);
  return values;
}

// sum += a @ b, for two matrices.
void add_product(const View &a, const View &b, int8_t cube, std::vector<float> &sum) {
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  const std::vector<float> left = cube_input(a, cube), right = cube_input(b, cube);
  multiply(m, n, k, {left.data(), k, 1}, {right.data(), n, 1}, sum.data());
}

void write_terms(std::vector<float> &product, const View *self, const View &out,
                 const Terms &terms) {
  if (terms.alpha != 1) {
    for (float &x : product) x *= terms.alpha;
  }
  // As in BLAS, a beta of 0 means that self is not read: its NaN do not matter.
  if (self != nullptr && terms.beta != 0) {
    const std::vector<float> addend = gathered<float>(self->expand(out.shape));
    for (size_t i = 0; i < product.size(); ++i) product[i] += terms.beta * addend[i];
  }
  scattered(out, product);
}

// Matrices in the last two dims, batches that broadcast in the others.
void multiply_batches(const View &a, const View &b, const View *self, const View &out,
                      const Terms &terms) {
  if (out.dim() == 2) {
    std::vector<float> product(static_cast<size_t>(out.numel()), 0.0f);
    add_product(a, b, terms.cube, product);
    return write_terms(product, self, out, terms);
  }
  for (int64_t i = 0; i < out.shape[0]; ++i) {
    View of_self;
    if (self != nullptr) of_self = self->select(0, i);
    multiply_batches(a.select(0, i), b.select(0, i), self == nullptr ? nullptr : &of_self,
                     out.select(0, i), terms);
  }
}

void check_cube(Call &call, int8_t type) {
  call.require(is_cube_math_type(type), "cubeMathType is none of 0, 1, 2, 3");
}

void needs_packing(Call &call, const Operand &a, const Operand &b) {
  call.workspace(packed_bytes(a) + packed_bytes(b));
}

// The dims before those of the matrix or vector.
Dims batch_of(const Dims &shape) {
  return {shape.begin(), shape.end() - static_cast<ptrdiff_t>(std::min<size_t>(2, shape.size()))};
}

// out = self @ mat2 as torch.matmul has it.
void matmul(Call &call, const Operand &a, const Operand &b, const Operand &out, int8_t cube) {
  check_cube(call, cube);
  call.require(1 <= a.dim() && a.dim() <= 6 && 1 <= b.dim() && b.dim() <= 6,
               "self and mat2 must have 1 to 6 dimensions");
  const bool row = a.dim() == 1, column = b.dim() == 1;
  const int64_t inner = column ? b.shape()[0] : b.shape()[b.shape().size() - 2];
  call.require(a.shape().back() == inner, "self and mat2 do not fit together");
  Dims batch, shape;
  call.require(broadcast(batch_of(a.shape()), batch_of(b.shape()), batch),
               "the batches of self and mat2 do not broadcast");
  shape = batch;
  if (!row) shape.push_back(a.shape()[a.shape().size() - 2]);
  if (!column) shape.push_back(b.shape().back());
  call.shape_is(out, shape);
  call.writes(call.common(a, b), out);
  call.contiguous(out);
  if (out.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    View to = launch[out];
    if (row) to = with_dim(to, column ? to.dim() : to.dim() - 1);
    if (column) to = with_dim(to, to.dim());
    const View left = row ? with_dim(launch[a], 0) : launch[a];
    const View right = column ? with_dim(launch[b], 1) : launch[b];
    const auto widened = [&](const View &view) {
      Dims wide = batch;
      wide.insert(wide.end(), view.shape.end() - 2, view.shape.end());
      return view.expand(wide);
    };
    multiply_batches(widened(left), widened(right), nullptr, to, {0, 1, cube});
  });
}

void broadcasts_to_product(Call &call, const Operand &self, const Dims &shape) {
  Dims wide;
  call.require(broadcast(self.shape(), shape, wide) && wide == shape,
               self.name() + " does not broadcast to the product");
}

Terms terms_of(Call &call, const aclScalar *beta, const aclScalar *alpha, int8_t cube) {
  check_cube(call, cube);
  return {call.scalar(beta, "beta").as<float>(), call.scalar(alpha, "alpha").as<float>(), cube};
}

// out = beta * self + alpha * (a @ b) for matrices, or batches of them.
template <int64_t RANK>
void add_matmul(Call &call, const Operand &self, const Operand &a, const Operand &b,
                const Operand &out, const Terms &terms) {
  call.require(a.dim() == RANK && b.dim() == RANK, a.name() + " and " + b.name() + " must have " +
                                                       std::to_string(RANK) + " dimensions");
  constexpr size_t batched = RANK - 2;
  call.require(a.shape().back() == b.shape()[batched],
               a.name() + " and " + b.name() + " do not fit together");
  call.require(batched == 0 || a.shape()[0] == b.shape()[0], "the batches differ");
  Dims shape = a.shape();
  shape.back() = b.shape().back();
  call.shape_is(out, shape);
  broadcasts_to_product(call, self, shape);
  call.writes(promote(call.common(a, b), self.dtype()), out);
  if (out.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    const View addend = launch[self].expand(out.shape());
    multiply_batches(launch[a], launch[b], &addend, launch[out], terms);
  });
}

// out = beta * self + alpha * sum of the products of a batch.
void add_sum_of_products(Call &call, const Operand &self, const Operand &a, const Operand &b,
                         const Operand &out, const Terms &terms) {
  call.require(a.dim() == 3 && b.dim() == 3, "batch1 and batch2 must have 3 dimensions");
  call.require(a.shape()[2] == b.shape()[1] && a.shape()[0] == b.shape()[0],
               "batch1 and batch2 do not fit together");
  const Dims shape{a.shape()[1], b.shape()[2]};
  call.shape_is(out, shape);
  broadcasts_to_product(call, self, shape);
  call.writes(promote(call.common(a, b), self.dtype()), out);
  if (out.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    std::vector<float> sum(static_cast<size_t>(out.numel()), 0.0f);
    for (int64_t i = 0; i < a.shape()[0]; ++i)
      add_product(launch[a].select(0, i), launch[b].select(0, i), terms.cube, sum);
    write_terms(sum, &launch[self], launch[out], terms);
  });
}

// out = beta * self + alpha * outer(vec1, vec2); a scalar that is left out is 1.
void outer_sum(Call &call, const Operand &self, const Operand &vec1, const Operand &vec2,
               const aclScalar *beta, const aclScalar *alpha, const Operand &out) {
  call.require(vec1.dim() == 1 && vec2.dim() == 1, "vec1 and vec2 must have 1 dimension");
  const Dims shape{vec1.shape()[0], vec2.shape()[0]};
  broadcasts_to_product(call, self, shape);
  call.shape_is(out, shape);
  const aclDataType as = promote(call.common(vec1, vec2), self.dtype());
  call.writes(as, out);
  Number one;
  one.dtype = ACL_INT64;
  one.whole = 1;
  const Number by_self = beta == nullptr ? one : call.scalar(beta, "beta");
  const Number by_product = alpha == nullptr ? one : call.scalar(alpha, "alpha");
  if (out.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(as, [&](auto zero) {
      using C = decltype(zero);
      const C b = by_self.as<C>(), a = by_product.as<C>();
      elementwise<C>(
          launch[out],
          [=](C s, C x, C y) { return plus(b == 0 ? C{} : times(b, s), times(times(a, x), y)); },
          launch[self], with_dim(launch[vec1], 1), launch[vec2]);
    });
  });
}

// A sum of products in a wide type: double for float.
template <class C>
using sum_of = std::conditional_t<std::is_same_v<C, float>, double, C>;

template <class C>
C inner_product(const C *a, const C *b, int64_t n) {
  sum_of<C> sum{};
  for (int64_t i = 0; i < n; ++i) sum = plus(sum, times<sum_of<C>>(a[i], b[i]));
  return static_cast<C>(sum);
}

}  // namespace

// ---- matrices -----------------------------------------------------------------------------------

ACLNN(Matmul, (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType),
      (self, mat2, out, cubeMathType)) {
  matmul(call, call.in(self, "self", FLT3), call.in(mat2, "mat2", FLT3), call.out(out, "out", FLT3),
         cubeMathType);
}

ACLNN(Mm, (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType),
      (self, mat2, out, cubeMathType)) {
  const Operand a = call.in(self, "self", FLT3), b = call.in(mat2, "mat2", FLT3);
  call.require(a.dim() == 2 && b.dim() == 2, "self and mat2 must have 2 dimensions");
  matmul(call, a, b, call.out(out, "out", FLT3), cubeMathType);
}

ACLNN(BatchMatMul,
      (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType),
      (self, mat2, out, cubeMathType)) {
  const Operand a = call.in(self, "self", FLT3), b = call.in(mat2, "mat2", FLT3);
  call.require(a.dim() == 3 && b.dim() == 3, "self and mat2 must have 3 dimensions");
  matmul(call, a, b, call.out(out, "out", FLT3), cubeMathType);
}

ACLNN(Mv, (const aclTensor *self, const aclTensor *vec, aclTensor *out, int8_t cubeMathType),
      (self, vec, out, cubeMathType)) {
  const Operand a = call.in(self, "self", FLT3), b = call.in(vec, "vec", FLT3),
                to = call.out(out, "out", FLT3);
  check_cube(call, cubeMathType);
  call.require(a.dim() == 2 && b.dim() == 1 && a.shape()[1] == b.shape()[0],
               "self and vec do not fit together");
  call.shape_is(to, {a.shape()[0]});
  call.writes(call.common(a, b), to);
  if (to.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    multiply_batches(launch[a], with_dim(launch[b], 1), nullptr, with_dim(launch[to], 1),
                     {0, 1, cubeMathType});
  });
}

ACLNN(Dot, (const aclTensor *self, const aclTensor *tensor, aclTensor *out), (self, tensor, out)) {
  constexpr DTypes allowed = FLT3 | I8 | I32 | U8;
  const Operand a = call.in(self, "self", allowed), b = call.in(tensor, "tensor", allowed);
  const Operand to = call.out(out, "out", allowed);
  call.require(a.dim() == 1 && a.shape() == b.shape(),
               "self and tensor must be vectors of one length");
  call.dtype_is(b, a.dtype());
  call.dtype_is(to, a.dtype());
  call.shape_is(to, {});
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(a.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const std::vector<C> x = gathered<C>(launch[a]), y = gathered<C>(launch[b]);
      scattered<C>(launch[to], {inner_product(x.data(), y.data(), a.numel())});
    });
  });
}

ACLNN(Ger, (const aclTensor *self, const aclTensor *vec2, aclTensor *out), (self, vec2, out)) {
  const Operand a = call.in(self, "self", NUM12), b = call.in(vec2, "vec2", NUM12),
                to = call.out(out, "out", NUM12);
  call.require(a.dim() == 1 && b.dim() == 1, "self and vec2 must have 1 dimension");
  call.shape_is(to, {a.shape()[0], b.shape()[0]});
  const aclDataType as = call.common(a, b);
  call.writes(as, to);
  if (to.numel() == 0) return;
  call.run([=](Launch &launch) {
    with_number<ALL_NUMBERS>(as, [&](auto zero) {
      using C = decltype(zero);
      elementwise<C>(launch[to], times<C>, with_dim(launch[a], 1), launch[b]);
    });
  });
}

// ---- products that are added to something -------------------------------------------------------

ACLNN(Addmm,
      (const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta,
       const aclScalar *alpha, aclTensor *out, int8_t cubeMathType),
      (self, mat1, mat2, beta, alpha, out, cubeMathType)) {
  const Operand s = call.in(self, "self", FLT3), a = call.in(mat1, "mat1", FLT3),
                b = call.in(mat2, "mat2", FLT3);
  const Operand to = call.out(out, "out", FLT3);
  call.contiguous(to);
  add_matmul<2>(call, s, a, b, to, terms_of(call, beta, alpha, cubeMathType));
}

#define ADDED_PRODUCT(Name, ADD)                                                              \
  ACLNN(Name,                                                                                 \
        (const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,             \
         const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType), \
        (self, batch1, batch2, beta, alpha, out, cubeMathType)) {                             \
    const Operand s = call.in(self, "self", FLT3), a = call.in(batch1, "batch1", FLT3);       \
    const Operand b = call.in(batch2, "batch2", FLT3), to = call.out(out, "out", FLT3);       \
    ADD(call, s, a, b, to, terms_of(call, beta, alpha, cubeMathType));                        \
  }

#define INPLACE_ADDED_PRODUCT(Name, LEFT, RIGHT, ADD)                               \
  ACLNN(Name,                                                                       \
        (aclTensor * selfRef, const aclTensor *LEFT, const aclTensor *RIGHT,        \
         const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType),       \
        (selfRef, LEFT, RIGHT, beta, alpha, cubeMathType)) {                        \
    const Operand s = call.inout(selfRef, "selfRef", FLT3);                         \
    const Operand a = call.in(LEFT, #LEFT, FLT3), b = call.in(RIGHT, #RIGHT, FLT3); \
    ADD(call, s, a, b, s, terms_of(call, beta, alpha, cubeMathType));               \
  }

INPLACE_ADDED_PRODUCT(InplaceAddmm, mat1, mat2, add_matmul<2>)
ADDED_PRODUCT(Baddbmm, add_matmul<3>)
INPLACE_ADDED_PRODUCT(InplaceBaddbmm, batch1, batch2, add_matmul<3>)
ADDED_PRODUCT(Addbmm, add_sum_of_products)
INPLACE_ADDED_PRODUCT(InplaceAddbmm, batch1, batch2, add_sum_of_products)

ACLNN(Gemm,
      (const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha, float beta,
       int64_t transA, int64_t transB, aclTensor *out, int8_t cubeMathType),
      (A, B, C, alpha, beta, transA, transB, out, cubeMathType)) {
  const Operand a = call.in(A, "A", FLT3), b = call.in(B, "B", FLT3), c = call.in(C, "C", FLT3);
  const Operand to = call.out(out, "out", FLT3);
  check_cube(call, cubeMathType);
  call.require(a.dim() == 2 && b.dim() == 2, "A and B must have 2 dimensions");
  const int64_t m = a.shape()[transA != 0], k = a.shape()[transA == 0], n = b.shape()[transB == 0];
  call.require(b.shape()[transB != 0] == k, "A and B do not fit together");
  broadcasts_to_product(call, c, {m, n});
  call.shape_is(to, {m, n});
  call.writes(promote(call.common(a, b), c.dtype()), to);
  call.contiguous(to);
  if (to.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    const View left = transA != 0 ? transposed(launch[a]) : launch[a];
    const View right = transB != 0 ? transposed(launch[b]) : launch[b];
    multiply_batches(left, right, &launch[c], launch[to], {beta, alpha, cubeMathType});
  });
}

ACLNN(Addmv,
      (const aclTensor *self, const aclTensor *mat, const aclTensor *vec, const aclScalar *alpha,
       const aclScalar *beta, aclTensor *out, int8_t cubeMathType),
      (self, mat, vec, alpha, beta, out, cubeMathType)) {
  const Operand s = call.in(self, "self", REAL10), a = call.in(mat, "mat", REAL10),
                b = call.in(vec, "vec", REAL10);
  const Operand to = call.out(out, "out", REAL9);
  check_cube(call, cubeMathType);
  call.require(a.dim() == 2 && b.dim() == 1 && a.shape()[1] == b.shape()[0],
               "mat and vec do not fit together");
  call.shape_is(to, {a.shape()[0]});
  broadcasts_to_product(call, s, to.shape());
  const aclDataType as = promote(call.common(a, b), s.dtype());
  call.writes(as, to);
  const Number by_self = call.scalar(beta, "beta"), by_product = call.scalar(alpha, "alpha");
  if (to.numel() == 0) return;
  needs_packing(call, a, b);
  call.run([=](Launch &launch) {
    with_number<REALS | WHOLE>(as, [&](auto zero) {
      using C = decltype(zero);
      const std::vector<C> matrix = gathered<C>(launch[a]), vector = gathered<C>(launch[b]);
      std::vector<C> result = gathered<C>(launch[s].expand(to.shape()));
      const int64_t k = b.numel();
      const C of_self = by_self.as<C>(), of_product = by_product.as<C>();
      for (size_t i = 0; i < result.size(); ++i) {
        const C product =
            inner_product(matrix.data() + static_cast<int64_t>(i) * k, vector.data(), k);
        const C addend = of_self == 0 ? C{} : times(of_self, result[i]);
        result[i] = plus(addend, times(of_product, product));
      }
      scattered(launch[to], result);
    });
  });
}

ACLNN(Addr,
      (const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2,
       const aclScalar *betaOptional, const aclScalar *alphaOptional, aclTensor *out),
      (self, vec1, vec2, betaOptional, alphaOptional, out)) {
  const Operand s = call.in(self, "self", REAL10), a = call.in(vec1, "vec1", REAL10),
                b = call.in(vec2, "vec2", REAL10);
  outer_sum(call, s, a, b, betaOptional, alphaOptional, call.out(out, "out", REAL10));
}

ACLNN(InplaceAddr,
      (aclTensor * selfRef, const aclTensor *vec1, const aclTensor *vec2,
       const aclScalar *betaOptional, const aclScalar *alphaOptional),
      (selfRef, vec1, vec2, betaOptional, alphaOptional)) {
  const Operand s = call.inout(selfRef, "selfRef", REAL10);
  const Operand a = call.in(vec1, "vec1", REAL10), b = call.in(vec2, "vec2", REAL10);
  outer_sum(call, s, a, b, betaOptional, alphaOptional, s);
}
