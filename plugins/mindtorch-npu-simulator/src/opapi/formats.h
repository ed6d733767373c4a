// The formats that operators on images insist on.
#pragma once

#include "../nnopbase/executor.h"

namespace sim {

// 3, 4 and 5 dims must be described as NCL, NCHW and NCDHW; other ranks are not images.
inline void check_image_format(const Call &call, const Operand &image) {
  const char *expected = nullptr;
  aclFormat format = ACL_FORMAT_ND;
  if (image.dim() == 3) expected = "NCL", format = ACL_FORMAT_NCL;
  if (image.dim() == 4) expected = "NCHW", format = ACL_FORMAT_NCHW;
  if (image.dim() == 5) expected = "NCDHW", format = ACL_FORMAT_NCDHW;
  call.require(expected == nullptr || image.format() == format,
               image.name() + " has format " + std::to_string(image.format()) + ", with " +
                   std::to_string(image.dim()) + " dimensions it must be " +
                   (expected == nullptr ? "" : expected));
}

}  // namespace sim
