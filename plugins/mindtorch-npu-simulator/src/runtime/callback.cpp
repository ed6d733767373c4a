// Functions of the host that streams call.
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "core/context.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

struct Call {
  aclrtCallback function;
  void *argument;
  std::shared_ptr<Record> done;
};

// Threads that run callbacks (aclrtProcessReport), and which streams have one.
struct Reports {
  std::mutex lock;
  std::condition_variable changed;
  std::map<int32_t, uint64_t> threads;          // by the number of a stream
  std::map<uint64_t, std::deque<Call>> queues;  // by thread
};

Reports &reports() {
  static Reports &value = *new Reports;
  return value;
}

// Runs on the stream: hand the call to the thread and, if the stream must wait, wait for it.
int32_t hand_over(uint64_t thread, const Call &call, const Stream *stream, bool blocks) {
  Reports &r = reports();
  {
    const std::lock_guard<std::mutex> hold(r.lock);
    r.queues[thread].push_back(call);
    r.changed.notify_all();
  }
  while (blocks && !call.done->wait(SLICE_MS)) {
    if (stream->dropping()) return 0;
  }
  return 0;
}

bool registered(const Reports &r, uint64_t thread) {
  for (const auto &entry : r.threads) {
    if (entry.second == thread) return true;
  }
  return false;
}

}  // namespace

CANN_EXPORT aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  Reports &r = reports();
  const std::lock_guard<std::mutex> hold(r.lock);
  if (r.threads.emplace(where->number, threadId).second) return 0;
  return refused(__func__, "the stream has a thread already");
}

CANN_EXPORT aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  Reports &r = reports();
  const std::lock_guard<std::mutex> hold(r.lock);
  const auto found = r.threads.find(where->number);
  if (found == r.threads.end() || found->second != threadId) {
    return fail(code::RT_STREAM_NO_CB_REG, "aclrtUnSubscribeReport: the stream has no such thread");
  }
  r.threads.erase(found);
  return 0;
}

CANN_EXPORT aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, int32_t blockType,
                                         aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "fn", reinterpret_cast<void *>(fn))) return code;
  if (blockType != 0 && blockType != 1) return invalid(__func__, "blockType is not 0 or 1");
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  uint64_t thread = 0;
  {
    Reports &r = reports();
    const std::lock_guard<std::mutex> hold(r.lock);
    const auto found = r.threads.find(where->number);
    if (found == r.threads.end()) {
      return fail(code::RT_STREAM_NO_CB_REG,
                  "aclrtLaunchCallback: no thread runs the callbacks of this stream. Call "
                  "aclrtSubscribeReport first.");
    }
    thread = found->second;
  }
  const Call call{fn, userData, std::make_shared<Record>()};
  const Stream *self = where.get();
  submit(where, {__func__, {}, [=] { return hand_over(thread, call, self, blockType == 1); }});
  return 0;
}

CANN_EXPORT aclError aclrtProcessReport(int32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  if (timeout < -1 || timeout == 0) return invalid(__func__, "timeout is 0 or below -1");
  const auto self = static_cast<uint64_t>(pthread_self());
  Reports &r = reports();
  Call call{};
  {
    std::unique_lock<std::mutex> hold(r.lock);
    if (!registered(r, self) && r.queues[self].empty()) {
      return fail(code::RT_THREAD_SUBSCRIBE, "aclrtProcessReport: no stream has this thread");
    }
    const auto ready = [&] { return !r.queues[self].empty(); };
    if (timeout < 0) {
      r.changed.wait(hold, ready);
    } else if (!r.changed.wait_for(hold, std::chrono::milliseconds(timeout), ready)) {
      return fail(code::RT_REPORT_TIMEOUT, "aclrtProcessReport: no callback came in time");
    }
    call = r.queues[self].front();
    r.queues[self].pop_front();
  }
  call.function(call.argument);
  call.done->complete();
  return 0;
}

// Newer than 8.1.RC1, which lacks it; here the stream's own thread makes the call.
CANN_EXPORT aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtCallback fn, void *args) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "fn", reinterpret_cast<void *>(fn))) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  submit(where, {__func__, {}, [fn, args] {
                   fn(args);
                   return 0;
                 }});
  return 0;
}

}  // namespace sim
