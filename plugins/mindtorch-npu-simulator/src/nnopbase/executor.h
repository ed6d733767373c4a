// The two-phase protocol: phase one checks and describes (`Call`), phase two queues (`Launch`).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../core/core.h"
#include "objects.h"
#include "views.h"

namespace sim {

class Call;
class Launch;
using Kernel = std::function<void(Launch &)>;

// A tensor parameter, as phase one knows it: everything but the data. It outlives its descriptor,
// so that kernels may ask it while they run.
class Operand {
 public:
  Operand() = default;
  // False for an optional one that is left out.
  explicit operator bool() const { return tensor_ != nullptr; }

  aclDataType dtype() const { return tensor_->dtype; }
  const Dims &shape() const { return tensor_->shape; }
  int64_t dim() const { return static_cast<int64_t>(tensor_->shape.size()); }
  int64_t numel() const { return sim::numel(tensor_->shape); }
  aclFormat format() const { return tensor_->format; }
  bool contiguous() const { return View{dtype(), shape(), tensor_->strides, nullptr}.contiguous(); }
  const std::string &name() const { return name_; }

 private:
  friend class Call;
  friend class Launch;
  std::shared_ptr<const aclTensor> tensor_;
  size_t index_ = 0;
  std::string name_;
};

// A scalar parameter's value.
struct Number {
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::complex<double> value;
  int64_t whole = 0;

  template <class T>
  T as() const {
    return has(INTEGRAL | BOOL, dtype) ? convert<T>(whole) : convert<T>(value);
  }
};

// Phase one of one call. A method that finds a parameter wrong ends the phase with the code that
// the real operator gives.
class SIM_API Call {
 public:
  explicit Call(const char *name) : name_(name) {}

  // Tensors: a null pointer is 161001, a dtype outside the set, more than 8 dimensions, a
  // descriptor whose data are not aligned or leave its storage are 161002.
  Operand in(const aclTensor *tensor, const char *name, DTypes allowed = ANY);
  Operand optional(const aclTensor *tensor, const char *name, DTypes allowed = ANY);
  Operand out(aclTensor *tensor, const char *name, DTypes allowed = ANY);
  Operand optional_out(aclTensor *tensor, const char *name, DTypes allowed = ANY);
  Operand inout(aclTensor *tensor, const char *name, DTypes allowed = ANY);
  std::vector<Operand> list(const aclTensorList *tensors, const char *name, DTypes allowed = ANY);
  std::vector<Operand> list_out(aclTensorList *tensors, const char *name, DTypes allowed = ANY);

  Number scalar(const aclScalar *scalar, const char *name);
  Dims ints(const aclIntArray *array, const char *name);
  std::vector<bool> bools(const aclBoolArray *array, const char *name);
  std::vector<float> floats(const aclFloatArray *array, const char *name);
  std::string text(const char *value, const char *name);

  // Checks; all end the phase with 161002 and a text that begins with the parameter's name.
  void require(bool holds, const std::string &text) const;
  void shape_is(const Operand &operand, const Dims &shape) const;
  void dtype_is(const Operand &operand, aclDataType d) const;
  void contiguous(const Operand &operand) const;
  void writes(aclDataType computed, const Operand &out) const;  // the result may be stored in out
  int64_t axis(int64_t dim, const Operand &of) const;  // 0 <= result < rank; a 0-d tensor has one
  // A flag for each dim; no dims mean all.
  std::vector<bool> axes(const Dims &dims, const Operand &of) const;
  // What both are promoted to; refused if there is nothing.
  aclDataType common(const Operand &a, const Operand &b) const;

  // Bytes of scratch memory that phase two is to bring.
  void workspace(uint64_t bytes) { workspace_ = bytes; }

  // Phase two waits for the stream, and the kernel may shrink outputs (`Launch::resize`).
  void waits() { waits_ = true; }

  // What is to run on the stream. Without one, phase two queues nothing (empty results).
  void run(Kernel kernel) { kernel_ = std::move(kernel); }

  const char *name() const { return name_; }

 private:
  friend struct ::aclOpExecutor;
  friend class Launch;
  friend aclnnStatus prepare(const char *, uint64_t *, aclOpExecutor **,
                             const std::function<void(Call &)> &);
  friend aclnnStatus launch(const char *, void *, uint64_t, aclOpExecutor *, aclrtStream);
  struct Parameter {
    aclTensor *tensor;
    std::string name;
    bool written;
  };

  Operand add(const aclTensor *tensor, const char *name, DTypes allowed, bool written);
  std::vector<Operand> add_list(const aclTensorList *tensors, const char *name, DTypes allowed,
                                bool written);

  const char *name_;
  std::vector<Parameter> parameters_;
  uint64_t workspace_ = 0;
  bool waits_ = false;
  Kernel kernel_;
};

// Phase two, on the stream's thread: the tensors' data as they are now.
class SIM_API Launch {
 public:
  const View &operator[](const Operand &operand) const { return views_[operand.index_]; }
  bool given(const Operand &operand) const { return static_cast<bool>(operand); }
  char *workspace() const { return workspace_; }

  // The kernel cannot go on, as on an index out of range: the stream fails with this code.
  [[noreturn]] void fault(const std::string &text, int32_t code = code::RT_AICORE_EXCEPTION) const;

  // The real shape of an output whose size depends on data; only after Call::waits.
  void resize(const Operand &out, Dims shape) {
    resized_.emplace_back(out.index_, std::move(shape));
  }

 private:
  friend aclnnStatus launch(const char *, void *, uint64_t, aclOpExecutor *, aclrtStream);
  const char *name_ = "";
  std::vector<View> views_;
  std::vector<std::pair<size_t, Dims>> resized_;
  char *workspace_ = nullptr;
};

// What every aclnnXxxGetWorkspaceSize and every aclnnXxx does around its own part.
SIM_API aclnnStatus prepare(const char *name, uint64_t *workspace_size, aclOpExecutor **executor,
                            const std::function<void(Call &)> &define);
SIM_API aclnnStatus launch(const char *name, void *workspace, uint64_t workspace_size,
                           aclOpExecutor *executor, aclrtStream stream);

}  // namespace sim

struct aclOpExecutor {
  explicit aclOpExecutor(sim::Call call) : call(std::move(call)) {}
  sim::Call call;
  bool repeatable = false;
};
