// Defining functions of one element, with and without an output of their own.
#pragma once

#include "elementwise.h"

// aclnnName(input, out): F of floating numbers; integers and bool are computed in float32.
#define UNARY(Name, input, INPUT, OUTPUT, KINDS, F)                                         \
  ACLNN(Name, (const aclTensor *input, aclTensor *out), (input, out)) {                     \
    const sim::Operand x = call.in(input, #input, INPUT), y = call.out(out, "out", OUTPUT); \
    sim::unary<KINDS>(call, x, y, sim::floating(x.dtype()), F);                             \
  }

// aclnnInplaceName(ref).
#define INPLACE_UNARY(Name, ref, ALLOWED, KINDS, F)             \
  ACLNN(Name, (aclTensor *ref), (ref)) {                        \
    const sim::Operand x = call.inout(ref, #ref, ALLOWED);      \
    sim::unary<KINDS>(call, x, x, sim::floating(x.dtype()), F); \
  }

// The same of functions that give integers for integers.
#define SAME_UNARY(Name, input, INPUT, output, OUTPUT, KINDS, F)                 \
  ACLNN(Name, (const aclTensor *input, aclTensor *output), (input, output)) {    \
    const sim::Operand x = call.in(input, #input, INPUT);                        \
    sim::unary<KINDS>(call, x, call.out(output, #output, OUTPUT), x.dtype(), F); \
  }
#define INPLACE_SAME_UNARY(Name, ref, ALLOWED, KINDS, F)   \
  ACLNN(Name, (aclTensor *ref), (ref)) {                   \
    const sim::Operand x = call.inout(ref, #ref, ALLOWED); \
    sim::unary<KINDS>(call, x, x, x.dtype(), F);           \
  }
