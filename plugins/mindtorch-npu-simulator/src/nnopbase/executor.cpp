#include "executor.h"

#include <algorithm>
#include <atomic>
#include <sstream>

namespace sim {
namespace {

constexpr size_t MAX_DIMS = 8;
constexpr uint64_t ALIGNMENT = 32;

// Ends phase one.
struct Refused {
  int32_t code;
  std::string text;
};

// Ends a kernel.
struct Fault {
  int32_t code;
  std::string text;
};

std::string text_of(const Dims &shape) {
  std::ostringstream out;
  out << '[';
  for (size_t d = 0; d < shape.size(); ++d) out << (d != 0 ? ", " : "") << shape[d];
  out << ']';
  return out.str();
}

// The elements a view touches, as the range [first, last] from its data pointer.
std::pair<int64_t, int64_t> extent(const aclTensor &t) {
  // Beyond all memory, and yet a number of elements whose bytes can be counted.
  constexpr int64_t FARTHEST = int64_t{1} << 58;
  const int64_t first = std::min(t.offset, FARTHEST);
  int64_t last = first;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(t.shape[d] - 1, t.strides[d], &reach)) reach = FARTHEST;
    last = std::min(last + std::min(reach, FARTHEST), FARTHEST);
  }
  return {first, last};
}

Range range_of(const aclTensor &t, bool written) {
  if (numel(t.shape) == 0) return {};
  const auto [first, last] = extent(t);
  const auto size = static_cast<int64_t>(item_size(t.dtype));
  return {reinterpret_cast<uint64_t>(t.data) + static_cast<uint64_t>(first * size),
          static_cast<uint64_t>((last - first + 1) * size), written};
}

// What a task writes into its workspace before it runs and finds there afterwards, unless somebody
// else was given the same memory too early.
class Seal {
 public:
  Seal(char *memory, uint64_t bytes) : memory_(memory), bytes_(bytes) {
    static std::atomic<uint64_t> next{1};
    pattern_ = static_cast<char>(next++ * 37 % 251 + 1);
    std::fill_n(memory_, bytes_, pattern_);
  }
  bool intact() const {
    return std::all_of(memory_, memory_ + bytes_, [&](char c) { return c == pattern_; });
  }

 private:
  char *memory_;
  uint64_t bytes_;
  char pattern_;
};

}  // namespace

// ---- phase one ----------------------------------------------------------------------------------

Operand Call::add(const aclTensor *tensor, const char *name, DTypes allowed, bool written) {
  Operand operand;
  operand.name_ = name;
  if (tensor == nullptr) return operand;
  if (!live(tensor, Kind::TENSOR, name_))
    throw Refused{code::ACLNN_PARAM_INVALID, operand.name_ + " is no tensor"};
  const std::string who = operand.name_;
  require(has(allowed, tensor->dtype),
          who + " has dtype " + name_of(tensor->dtype) + ", which is not supported");
  require(tensor->shape.size() <= MAX_DIMS, who + " has more than 8 dimensions");
  if (numel(tensor->shape) != 0 && tensor->data != nullptr) {
    require(
        reinterpret_cast<uint64_t>(tensor->data) % ALIGNMENT == 0,
        who +
            ": its data pointer is not aligned to 32 bytes; pass the storage's base and an offset");
    const auto [first, last] = extent(*tensor);
    if (first < 0 || last >= numel(tensor->storage)) {
      report("view-outside-storage", std::string(name_) + ": " + who + " of shape " +
                                         text_of(tensor->shape) + " leaves its storage of shape " +
                                         text_of(tensor->storage));
    }
  }
  operand.tensor_ = std::make_shared<const aclTensor>(*tensor);
  operand.index_ = parameters_.size();
  parameters_.push_back({const_cast<aclTensor *>(tensor), who, written});
  return operand;
}

Operand Call::optional(const aclTensor *tensor, const char *name, DTypes allowed) {
  return add(tensor, name, allowed, false);
}

Operand Call::optional_out(aclTensor *tensor, const char *name, DTypes allowed) {
  return add(tensor, name, allowed, true);
}

Operand Call::in(const aclTensor *tensor, const char *name, DTypes allowed) {
  if (tensor == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, std::string(name) + " is null"};
  return add(tensor, name, allowed, false);
}

Operand Call::out(aclTensor *tensor, const char *name, DTypes allowed) {
  if (tensor == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, std::string(name) + " is null"};
  return add(tensor, name, allowed, true);
}

Operand Call::inout(aclTensor *tensor, const char *name, DTypes allowed) {
  return out(tensor, name, allowed);
}

std::vector<Operand> Call::add_list(const aclTensorList *tensors, const char *name, DTypes allowed,
                                    bool written) {
  if (tensors == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, std::string(name) + " is null"};
  if (!live(tensors, Kind::TENSOR_LIST, name_))
    throw Refused{code::ACLNN_PARAM_INVALID, std::string(name) + " is no list"};
  std::vector<Operand> operands;
  for (const aclTensor *member : tensors->members) {
    const std::string who = std::string(name) + "[" + std::to_string(operands.size()) + "]";
    if (member == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, who + " is null"};
    operands.push_back(add(member, who.c_str(), allowed, written));
  }
  return operands;
}

std::vector<Operand> Call::list(const aclTensorList *tensors, const char *name, DTypes allowed) {
  return add_list(tensors, name, allowed, false);
}

std::vector<Operand> Call::list_out(aclTensorList *tensors, const char *name, DTypes allowed) {
  return add_list(tensors, name, allowed, true);
}

namespace {

// A parameter object that must be there.
template <class T>
const T &given(const T *object, Kind kind, const char *operation, const char *name) {
  if (object == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, std::string(name) + " is null"};
  if (!live(object, kind, operation))
    throw Refused{code::ACLNN_PARAM_INVALID, std::string(name) + " is not valid"};
  return *object;
}

}  // namespace

Number Call::scalar(const aclScalar *scalar, const char *name) {
  const aclScalar &s = given(scalar, Kind::SCALAR, name_, name);
  return {s.dtype, s.value, s.whole};
}

Dims Call::ints(const aclIntArray *array, const char *name) {
  return given(array, Kind::INT_ARRAY, name_, name).values;
}

std::vector<bool> Call::bools(const aclBoolArray *array, const char *name) {
  const auto &values = given(array, Kind::BOOL_ARRAY, name_, name).values;
  return {values.begin(), values.end()};
}

std::vector<float> Call::floats(const aclFloatArray *array, const char *name) {
  return given(array, Kind::FLOAT_ARRAY, name_, name).values;
}

std::string Call::text(const char *value, const char *name) {
  if (value == nullptr) throw Refused{code::ACLNN_PARAM_NULLPTR, std::string(name) + " is null"};
  return value;
}

void Call::require(bool holds, const std::string &text) const {
  if (!holds) throw Refused{code::ACLNN_PARAM_INVALID, text};
}

void Call::shape_is(const Operand &operand, const Dims &shape) const {
  require(operand.shape() == shape, operand.name() + " has shape " + text_of(operand.shape()) +
                                        ", but the result has shape " + text_of(shape));
}

void Call::dtype_is(const Operand &operand, aclDataType d) const {
  require(operand.dtype() == d,
          operand.name() + " has dtype " + name_of(operand.dtype()) + ", expected " + name_of(d));
}

void Call::contiguous(const Operand &operand) const {
  require(!operand || operand.contiguous(), operand.name() + " must be contiguous");
}

void Call::writes(aclDataType computed, const Operand &out) const {
  require(converts(computed, out.dtype()), std::string("a result of dtype ") + name_of(computed) +
                                               " cannot be stored in " + out.name() + " of dtype " +
                                               name_of(out.dtype()));
}

int64_t Call::axis(int64_t dim, const Operand &of) const {
  const int64_t rank = std::max<int64_t>(of.dim(), 1);
  require(-rank <= dim && dim < rank, "dim " + std::to_string(dim) + " is out of range for " +
                                          of.name() + " of shape " + text_of(of.shape()));
  return dim < 0 ? dim + rank : dim;
}

std::vector<bool> Call::axes(const Dims &dims, const Operand &of) const {
  std::vector<bool> chosen(of.shape().size(), dims.empty());
  for (const int64_t dim : dims) {
    const auto d = static_cast<size_t>(axis(dim, of));
    if (chosen.empty()) continue;
    require(!chosen[d], "dim " + std::to_string(dim) + " appears twice");
    chosen[d] = true;
  }
  return chosen;
}

aclDataType Call::common(const Operand &a, const Operand &b) const {
  const aclDataType d = promote(a.dtype(), b.dtype());
  require(d != ACL_DT_UNDEFINED, std::string("dtypes ") + name_of(a.dtype()) + " of " + a.name() +
                                     " and " + name_of(b.dtype()) + " of " + b.name() +
                                     " do not combine");
  return d;
}

aclnnStatus prepare(const char *name, uint64_t *workspace_size, aclOpExecutor **executor,
                    const std::function<void(Call &)> &define) {
  const std::string symbol = std::string(name) + "GetWorkspaceSize";
  if (const int32_t injected = enter(symbol.c_str())) return injected;
  try {
    if (workspace_size == nullptr || executor == nullptr) {
      throw Refused{code::ACLNN_PARAM_NULLPTR, "workspaceSize or executor is null"};
    }
    Call call(name);
    define(call);
    *workspace_size = call.workspace_;
    *executor = new aclOpExecutor(std::move(call));
    adopt(*executor, Kind::EXECUTOR);
    return code::SUCCESS;
  } catch (const Refused &refused) {
    return fail(refused.code, symbol + ": " + refused.text);
  } catch (const std::exception &error) {
    return fail(code::ACLNN_INNER, symbol + ": " + error.what());
  }
}

// ---- phase two ----------------------------------------------------------------------------------

void Launch::fault(const std::string &text, int32_t code) const {
  throw Fault{code, std::string(name_) + ": " + text};
}

aclnnStatus launch(const char *name, void *workspace, uint64_t workspace_size,
                   aclOpExecutor *executor, aclrtStream stream) {
  const int32_t injected = enter(name);
  if (executor == nullptr) {
    return injected != 0
               ? injected
               : fail(code::ACLNN_PARAM_NULLPTR, std::string(name) + ": executor is null");
  }
  if (!live(executor, Kind::EXECUTOR, name)) {
    return fail(code::ACLNN_INNER,
                std::string(name) + ": the executor was used before or is not valid");
  }
  // Whatever comes, this phase takes the executor, unless it is a repeatable one.
  Call call = executor->call;
  if (!executor->repeatable && retire(executor, Kind::EXECUTOR, name))
    bury(Kind::EXECUTOR, executor);
  if (injected != 0) return injected;
  if (std::string(call.name()) != name) {
    report("wrong-executor", std::string(name) + " got an executor of " + call.name());
    return fail(code::ACLNN_INNER, std::string(name) + ": the executor belongs to " + call.name());
  }
  if (call.workspace_ > 0 && workspace == nullptr) {
    return fail(code::ACLNN_PARAM_NULLPTR, std::string(name) + ": workspace is null");
  }
  if (workspace_size < call.workspace_) {
    return fail(code::ACLNN_PARAM_INVALID,
                std::string(name) + ": workspaceSize is smaller than phase one said");
  }
  Task task;
  task.name = name;
  std::vector<View> views;
  std::vector<Range> ranges;
  for (const Call::Parameter &p : call.parameters_) {
    if (!live(p.tensor, Kind::TENSOR, name)) {
      return fail(code::ACLNN_INNER,
                  std::string(name) + ": tensor " + p.name + " was destroyed between the phases");
    }
    views.push_back({p.tensor->dtype, p.tensor->shape, p.tensor->strides, nullptr});
    ranges.push_back(range_of(*p.tensor, p.written));
  }
  const Range scratch{reinterpret_cast<uint64_t>(workspace), call.workspace_, true};
  for (const Range &range : ranges) {
    if (range.bytes != 0) task.uses.push_back(range);
  }
  if (scratch.bytes != 0) task.uses.push_back(scratch);
  if (!call.kernel_) return code::SUCCESS;

  auto state = std::make_shared<Launch>();
  state->name_ = name;
  state->views_ = std::move(views);
  task.run = [state, name, kernel = call.kernel_, ranges, scratch]() -> int32_t {
    for (size_t k = 0; k < ranges.size(); ++k) {
      if (ranges[k].bytes != 0) state->views_[k].data = reach(ranges[k].address, ranges[k].bytes);
    }
    if (scratch.bytes != 0) state->workspace_ = reach(scratch.address, scratch.bytes);
    try {
      const Seal seal(state->workspace_, scratch.bytes);
      kernel(*state);
      if (!seal.intact())
        report("workspace-shared", std::string(name) + ": its workspace was written by others");
      return code::SUCCESS;
    } catch (const Fault &fault) {
      return fail(fault.code, fault.text);
    } catch (const std::exception &error) {
      return fail(code::RT_AICPU_EXCEPTION, std::string(name) + ": " + error.what());
    }
  };
  if (const int32_t failed = enqueue(stream, std::move(task))) return failed;
  if (!call.waits_) return code::SUCCESS;
  if (const int32_t failed = drain(stream))
    return fail(code::ACLNN_RUNTIME_ERROR,
                std::string(name) + ": the stream failed with " + std::to_string(failed));
  for (const auto &[index, shape] : state->resized_) {
    aclTensor *tensor = call.parameters_[index].tensor;
    tensor->shape = shape;
    tensor->strides = contiguous_strides(shape);
  }
  return code::SUCCESS;
}

}  // namespace sim

// ---- executors, as programs handle them ---------------------------------------------------------

CANN_EXPORT aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
  if (const int32_t injected = sim::enter("aclSetAclOpExecutorRepeatable")) return injected;
  if (executor == nullptr) return sim::fail(code::ACLNN_INNER_NULLPTR, "executor is null");
  if (!sim::live(executor, sim::Kind::EXECUTOR, "aclSetAclOpExecutorRepeatable"))
    return code::ACLNN_INNER;
  executor->repeatable = true;
  return code::SUCCESS;
}

CANN_EXPORT aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
  if (const int32_t injected = sim::enter("aclDestroyAclOpExecutor")) return injected;
  if (executor == nullptr) return sim::fail(code::ACLNN_INNER_NULLPTR, "executor is null");
  if (!sim::retire(executor, sim::Kind::EXECUTOR, "aclDestroyAclOpExecutor"))
    return code::ACLNN_INNER;
  sim::bury(sim::Kind::EXECUTOR, executor);
  return code::SUCCESS;
}
