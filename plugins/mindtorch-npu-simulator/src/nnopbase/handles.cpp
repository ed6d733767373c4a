// Which handles are alive, and what kind they are of.
#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "../core/core.h"
#include "executor.h"
#include "objects.h"

namespace sim {
namespace {

constexpr size_t GRAVES = 4096;  // destroyed objects whose addresses are not used again yet

constexpr std::array<const char *, 8> NAMES = {"tensor",      "scalar",     "int array",
                                               "float array", "bool array", "tensor list",
                                               "scalar list", "executor"};

struct Handles {
  std::mutex mutex;
  std::unordered_map<const void *, Kind> alive;
  std::deque<std::pair<Kind, void *>> graves;
};

Handles &handles() {
  static auto *all = new Handles;  // outlives every other static object
  return *all;
}

void release(Kind kind, void *handle) {
  switch (kind) {
    case Kind::TENSOR: delete static_cast<aclTensor *>(handle); break;
    case Kind::SCALAR: delete static_cast<aclScalar *>(handle); break;
    case Kind::INT_ARRAY: delete static_cast<aclIntArray *>(handle); break;
    case Kind::FLOAT_ARRAY: delete static_cast<aclFloatArray *>(handle); break;
    case Kind::BOOL_ARRAY: delete static_cast<aclBoolArray *>(handle); break;
    case Kind::TENSOR_LIST: delete static_cast<aclTensorList *>(handle); break;
    case Kind::SCALAR_LIST: delete static_cast<aclScalarList *>(handle); break;
    case Kind::EXECUTOR: delete static_cast<aclOpExecutor *>(handle); break;
  }
}

// What is wrong with a handle, "" if nothing is. Called with the mutex held.
std::string trouble(const Handles &all, const void *handle, Kind kind) {
  const auto found = all.alive.find(handle);
  if (found != all.alive.end()) {
    if (found->second == kind) return "";
    return std::string("a ") + NAMES[static_cast<size_t>(found->second)] + " was given";
  }
  for (const auto &grave : all.graves) {
    if (grave.second == handle) return "it was destroyed before";
  }
  return "no such handle was made";
}

}  // namespace

void adopt(const void *handle, Kind kind) {
  made(NAMES[static_cast<size_t>(kind)]);
  auto &all = handles();
  const std::lock_guard lock(all.mutex);
  all.alive[handle] = kind;
}

bool retire(const void *handle, Kind kind, const char *caller) {
  auto &all = handles();
  std::string wrong;
  {
    const std::lock_guard lock(all.mutex);
    wrong = trouble(all, handle, kind);
    if (wrong.empty()) all.alive.erase(handle);
  }
  const char *name = NAMES[static_cast<size_t>(kind)];
  if (wrong.empty()) {
    gone(name);
    return true;
  }
  const bool twice = wrong == "it was destroyed before";
  report(twice ? "double-destroy" : "wrong-handle",
         std::string(caller) + " of a " + name + ": " + wrong);
  return false;
}

bool live(const void *handle, Kind kind, const char *user) {
  auto &all = handles();
  std::string wrong;
  {
    const std::lock_guard lock(all.mutex);
    wrong = trouble(all, handle, kind);
  }
  if (wrong.empty()) return true;
  const bool dead = wrong == "it was destroyed before";
  report(dead ? "use-after-destroy" : "wrong-handle",
         std::string(user) + " with a " + NAMES[static_cast<size_t>(kind)] + ": " + wrong);
  return false;
}

void bury(Kind kind, void *handle) {
  auto &all = handles();
  std::pair<Kind, void *> oldest{kind, nullptr};
  {
    const std::lock_guard lock(all.mutex);
    all.graves.emplace_back(kind, handle);
    if (all.graves.size() > GRAVES) {
      oldest = all.graves.front();
      all.graves.pop_front();
    }
  }
  if (oldest.second != nullptr) release(oldest.first, oldest.second);
}

}  // namespace sim
