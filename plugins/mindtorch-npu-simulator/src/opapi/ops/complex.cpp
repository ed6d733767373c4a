// Complex numbers from their parts, and back.
#include <cmath>

#include "../elementwise.h"

using namespace sim;

namespace {

constexpr DTypes PARTS = F32 | F16 | F64;

}  // namespace

ACLNN(Real, (const aclTensor *self, aclTensor *out), (self, out)) {
  const Operand x = call.in(self, "self", F32 | F16 | COMPLEX), y = call.out(out, "out", PARTS);
  unary<REALS | COMPLEXES>(call, x, y, x.dtype(), [](auto v) { return v; });
}

ACLNN(Complex, (const aclTensor *real, const aclTensor *imag, aclTensor *out), (real, imag, out)) {
  const Operand re = call.in(real, "real", PARTS), im = call.in(imag, "imag", PARTS);
  const Operand z = call.out(out, "out", COMPLEX);
  call.dtype_is(im, re.dtype());
  call.dtype_is(z, re.dtype() == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64);
  broadcast_to(call, z, re, im);
  using C = std::complex<double>;
  if (z.numel() == 0) return;
  call.run([=](Launch &launch) {
    elementwise<double, C>(
        launch[z], [](double a, double b) { return C(a, b); }, launch[re], launch[im]);
  });
}

ACLNN(Polar, (const aclTensor *input, const aclTensor *angle, aclTensor *out),
      (input, angle, out)) {
  const Operand length = call.in(input, "input", F32), turn = call.in(angle, "angle", F32);
  const Operand z = call.out(out, "out", C64);
  broadcast_to(call, z, length, turn);
  using C = std::complex<double>;
  if (z.numel() == 0) return;
  call.run([=](Launch &launch) {
    elementwise<double, C>(
        launch[z], [](double a, double b) { return C(a * std::cos(b), a * std::sin(b)); },
        launch[length], launch[turn]);
  });
}
