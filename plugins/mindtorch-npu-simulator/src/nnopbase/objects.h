// The parameter objects behind CANN's opaque handles.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "cann_abi.h"
#include "dtypes.h"
#include "views.h"

struct aclTensor {
  sim::Dims shape, strides, storage;  // strides and offset in elements
  int64_t offset = 0;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void *data = nullptr;
};

struct aclScalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::complex<double> value;  // of every type but integers
  int64_t whole = 0;           // integers and bool, exactly
};

struct aclIntArray {
  std::vector<int64_t> values;
};
struct aclFloatArray {
  std::vector<float> values;
};
struct aclBoolArray {
  std::vector<uint8_t> values;
};
struct aclTensorList {
  std::vector<aclTensor *> members;
};
struct aclScalarList {
  std::vector<aclScalar *> members;
};

namespace sim {

// The kinds of handles, by which the watcher tells a wrong one.
enum class Kind {
  TENSOR,
  SCALAR,
  INT_ARRAY,
  FLOAT_ARRAY,
  BOOL_ARRAY,
  TENSOR_LIST,
  SCALAR_LIST,
  EXECUTOR
};

inline Kind kind_of(const aclTensor *) { return Kind::TENSOR; }
inline Kind kind_of(const aclScalar *) { return Kind::SCALAR; }
inline Kind kind_of(const aclIntArray *) { return Kind::INT_ARRAY; }
inline Kind kind_of(const aclFloatArray *) { return Kind::FLOAT_ARRAY; }
inline Kind kind_of(const aclBoolArray *) { return Kind::BOOL_ARRAY; }
inline Kind kind_of(const aclTensorList *) { return Kind::TENSOR_LIST; }
inline Kind kind_of(const aclScalarList *) { return Kind::SCALAR_LIST; }
inline Kind kind_of(const aclOpExecutor *) { return Kind::EXECUTOR; }

// Enter a new handle, so that it is known from now on.
void adopt(const void *handle, Kind kind);

// Take a handle out; false, with a finding, if it is not a live one of its kind.
bool retire(const void *handle, Kind kind, const char *caller);

// Whether a handle is live and of its kind; if not that is a finding.
bool live(const void *handle, Kind kind, const char *user);

// Destroyed handles' addresses are not given out again for a while: delete through this.
void bury(Kind kind, void *handle);

}  // namespace sim
