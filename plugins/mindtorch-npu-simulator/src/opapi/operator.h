// Defining an operator: its two exported functions from one description.
#pragma once

#include "../nnopbase/executor.h"

#define SIM_UNPACK(...) __VA_ARGS__

// ACLNN(Name, (parameters), (their names)) { body }
//
// Exports aclnnNameGetWorkspaceSize with exactly these parameters and aclnnName. The body is phase
// one: it sees the parameters and `call`, checks them and hands over what phase two is to run.
#define ACLNN(Name, PARAMETERS, NAMES)                                                      \
  static void define_##Name(sim::Call &call, SIM_UNPACK PARAMETERS);                        \
  CANN_EXPORT aclnnStatus aclnn##Name##GetWorkspaceSize(                                    \
      SIM_UNPACK PARAMETERS, uint64_t *workspaceSize, aclOpExecutor **executor) {           \
    return sim::prepare("aclnn" #Name, workspaceSize, executor,                             \
                        [&](sim::Call &call) { define_##Name(call, SIM_UNPACK NAMES); });   \
  }                                                                                         \
  CANN_EXPORT aclnnStatus aclnn##Name(void *workspace, uint64_t workspaceSize,              \
                                      aclOpExecutor *executor, aclrtStream stream) {        \
    return sim::launch("aclnn" #Name, workspace, workspaceSize, executor, stream);          \
  }                                                                                         \
  static const sim::Exported exported_##Name{"aclnn" #Name,                                 \
                                             sim::kinds_of(aclnn##Name##GetWorkspaceSize)}; \
  static void define_##Name([[maybe_unused]] sim::Call &call, SIM_UNPACK PARAMETERS)

namespace sim {

// One letter group per parameter, derived from the C++ types themselves: T input tensor, T> tensor
// that is written, S scalar, IA BA FA arrays, TL TL> SL lists, i64 u64 i32 i8 b f64 f32 DT numbers,
// str.
template <class T>
constexpr const char *kind_name() {
  if constexpr (std::is_same_v<T, const aclTensor *>) return "T";
  else if constexpr (std::is_same_v<T, aclTensor *>) return "T>";
  else if constexpr (std::is_same_v<T, const aclScalar *>) return "S";
  else if constexpr (std::is_same_v<T, const aclIntArray *>) return "IA";
  else if constexpr (std::is_same_v<T, const aclBoolArray *>) return "BA";
  else if constexpr (std::is_same_v<T, const aclFloatArray *>) return "FA";
  else if constexpr (std::is_same_v<T, const aclTensorList *>) return "TL";
  else if constexpr (std::is_same_v<T, aclTensorList *>) return "TL>";
  else if constexpr (std::is_same_v<T, const aclScalarList *>) return "SL";
  else if constexpr (std::is_same_v<T, int64_t>) return "i64";
  else if constexpr (std::is_same_v<T, uint64_t>) return "u64";
  else if constexpr (std::is_same_v<T, aclDataType>) return "DT";
  else if constexpr (std::is_same_v<T, int32_t>) return "i32";
  else if constexpr (std::is_same_v<T, int8_t>) return "i8";
  else if constexpr (std::is_same_v<T, bool>) return "b";
  else if constexpr (std::is_same_v<T, double>) return "f64";
  else if constexpr (std::is_same_v<T, float>) return "f32";
  else {
    static_assert(std::is_same_v<T, const char *> || std::is_same_v<T, char *>,
                  "a type that no operator takes");
    return "str";
  }
}

// The parameters of phase one without its two results.
template <class... P>
std::string kinds_of(aclnnStatus (*)(P...)) {
  const char *all[] = {[] {
    if constexpr (std::is_same_v<P, uint64_t *> || std::is_same_v<P, aclOpExecutor **>) return "";
    else return kind_name<P>();
  }()...};
  std::string text;
  for (const char *kind : all) {
    if (*kind != 0) text += (text.empty() ? "" : " ") + std::string(kind);
  }
  return text;
}

// Enters an operator into the list that simOperators gives, one "name kinds" a line.
struct Exported {
  Exported(const char *name, const std::string &kinds);
};

}  // namespace sim
