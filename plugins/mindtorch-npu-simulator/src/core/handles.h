// Handles that programs hold: numbers that point to nothing and are never given twice.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace sim {

// A handle is no address of ours, so that a program that looks behind one faults, and a destroyed
// one is told from a live one for ever.
template <class T>
class Handles {
 public:
  // `family` sets the handles of one kind of object apart from those of others.
  explicit Handles(uint64_t family) : base_(family << 48) {}

  void *add(const std::shared_ptr<T> &object) {
    const std::lock_guard<std::mutex> hold(lock_);
    void *handle = reinterpret_cast<void *>(base_ + (++serial_ << 4));
    live_.emplace(handle, object);
    return handle;
  }

  std::shared_ptr<T> find(void *handle) const {
    const std::lock_guard<std::mutex> hold(lock_);
    const auto found = live_.find(handle);
    return found == live_.end() ? nullptr : found->second;
  }

  // Takes the object out; nullptr if the handle is not live.
  std::shared_ptr<T> take(void *handle) {
    const std::lock_guard<std::mutex> hold(lock_);
    const auto found = live_.find(handle);
    if (found == live_.end()) return nullptr;
    std::shared_ptr<T> object = found->second;
    live_.erase(found);
    return object;
  }

  // Takes out all that the predicate wants; gives their number.
  template <class Wanted>
  size_t take_if(Wanted wanted) {
    std::vector<std::shared_ptr<T>> taken;  // these die after the lock, which is younger
    const std::lock_guard<std::mutex> hold(lock_);
    for (auto it = live_.begin(); it != live_.end();) {
      if (wanted(*it->second)) {
        taken.push_back(it->second);
        it = live_.erase(it);
      } else {
        ++it;
      }
    }
    return taken.size();
  }

  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard<std::mutex> hold(lock_);
    std::vector<std::shared_ptr<T>> result;
    result.reserve(live_.size());
    for (const auto &entry : live_) result.push_back(entry.second);
    return result;
  }

  size_t size() const {
    const std::lock_guard<std::mutex> hold(lock_);
    return live_.size();
  }

  // Whether the handle was given at some time.
  bool known(void *handle) const {
    const std::lock_guard<std::mutex> hold(lock_);
    const auto value = reinterpret_cast<uint64_t>(handle);
    return value > base_ && value <= base_ + (serial_ << 4) && value % 16 == 0;
  }

 private:
  const uint64_t base_;
  mutable std::mutex lock_;
  uint64_t serial_ = 0;
  std::unordered_map<void *, std::shared_ptr<T>> live_;
};

}  // namespace sim
