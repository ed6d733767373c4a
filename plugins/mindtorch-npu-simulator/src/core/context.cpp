#include "core/context.h"

#include <set>
#include <utility>

#include "core/settings.h"

namespace sim {
namespace {

struct Device {
  // Held while the device is taken or cleared, so that nobody takes one that is half cleared.
  std::mutex changing;
  int references = 0;
  std::shared_ptr<Context> primary;
};

struct Devices {
  std::mutex lock;
  std::map<int, Device> used;
  std::set<std::pair<int, int>> peers;
};

Devices &devices() {
  static Devices &value = *new Devices;
  return value;
}

Device &device_of(int number) {
  Devices &d = devices();
  const std::lock_guard<std::mutex> hold(d.lock);
  return d.used[number];
}

std::atomic<uint64_t> context_numbers{0};

std::weak_ptr<Context> &of_thread() {
  thread_local std::weak_ptr<Context> value;
  return value;
}

int32_t unknown(int32_t code, const char *symbol, const char *what, void *handle, bool was) {
  const std::string text = std::string(symbol) + " was given " +
                           (was ? "a destroyed " : "a value that is no ") + what + ": " +
                           std::to_string(reinterpret_cast<uint64_t>(handle));
  report("unknown-handle", text);
  return fail(code, text);
}

}  // namespace

Handles<Context> &contexts() {
  static Handles<Context> &value = *new Handles<Context>(0x53);
  return value;
}

int32_t current(const char *symbol, std::shared_ptr<Context> &context) {
  context = of_thread().lock();
  if (context && context->live) return 0;
  context = nullptr;
  return fail(code::RT_CONTEXT_NULL, std::string(symbol) +
                                         ": this thread has no context. Call aclrtSetDevice on "
                                         "each thread before it uses the device.");
}

int32_t current_device(const char *symbol, int &device) {
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  device = context->device;
  return 0;
}

void make_current(const std::shared_ptr<Context> &context) { of_thread() = context; }

int32_t physical(const char *symbol, int32_t id, int &device) {
  const auto &visible = settings().devices;
  if (id < 0 || static_cast<size_t>(id) >= visible.size()) {
    return fail(code::RT_INVALID_DEVICEID, std::string(symbol) + ": there is no device " +
                                               std::to_string(id) + ", only " +
                                               std::to_string(visible.size()) + " devices");
  }
  device = visible[static_cast<size_t>(id)];
  return 0;
}

int32_t physical_device(const char *symbol, int32_t id, int &device) {
  return physical(symbol, id, device);
}

std::shared_ptr<Context> create_context(int32_t id, int device, bool primary) {
  auto context = std::make_shared<Context>();
  context->number = ++context_numbers;
  context->id = id;
  context->device = device;
  context->primary = primary;
  context->handle = contexts().add(context);
  made("context");
  make_current(context);
  return context;
}

void destroy_context(const std::shared_ptr<Context> &context) {
  context->live = false;
  contexts().take(context->handle);
  gone("context");
  for (const auto &stream : streams_of(*context)) stream->close(false);
  size_t left = streams().take_if([&](Stream &s) { return s.context == context->number; });
  for (size_t i = 0; i < left; ++i) gone("stream");
  size_t events_left = events().take_if([&](Event &e) { return e.context == context->number; });
  for (size_t i = 0; i < events_left; ++i) gone("event");
  {
    const std::lock_guard<std::mutex> hold(context->lock);
    context->main = nullptr;
  }
  if (left + events_left == 0) return;
  report("leak", std::to_string(left) + " streams and " + std::to_string(events_left) +
                     " events were not destroyed before their context, that of device " +
                     std::to_string(context->device));
}

void retain_device(int32_t id, int device) {
  Device &entry = device_of(device);
  const std::lock_guard<std::mutex> hold(entry.changing);
  ++entry.references;
  if (entry.primary) {
    make_current(entry.primary);
  } else {
    entry.primary = create_context(id, device, true);
  }
}

bool release_device(int device, bool force) {
  Device &entry = device_of(device);
  const std::lock_guard<std::mutex> hold(entry.changing);
  if (entry.references == 0) return false;
  entry.references = force ? 0 : entry.references - 1;
  if (entry.references > 0) return true;
  destroy_context(entry.primary);
  entry.primary = nullptr;
  release_all(device);
  return true;
}

bool reachable(int from, int to) {
  if (from == to) return true;
  Devices &d = devices();
  const std::lock_guard<std::mutex> hold(d.lock);
  return d.peers.count({from, to}) > 0;
}

void set_peer(int from, int to, bool enabled) {
  Devices &d = devices();
  const std::lock_guard<std::mutex> hold(d.lock);
  if (enabled) {
    d.peers.insert({from, to});
  } else {
    d.peers.erase({from, to});
  }
}

std::shared_ptr<Stream> main_stream(Context &context) {
  const std::lock_guard<std::mutex> hold(context.lock);
  if (!context.main) context.main = std::make_shared<Stream>(context.number, context.device, 0);
  return context.main;
}

int32_t any_stream(const char *symbol, aclrtStream handle, std::shared_ptr<Stream> &stream) {
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  stream = handle == nullptr ? main_stream(*context) : streams().find(handle);
  if (stream) return 0;
  return unknown(code::RT_STREAM_CONTEXT, symbol, "stream", handle, streams().known(handle));
}

int32_t stream_for_work(const char *symbol, aclrtStream handle, std::shared_ptr<Stream> &stream) {
  if (const int32_t code = any_stream(symbol, handle, stream)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  if (stream->context == context->number) return 0;
  return fail(code::RT_STREAM_CONTEXT,
              std::string(symbol) + ": stream " + std::to_string(stream->number) +
                  " is of another context (device " + std::to_string(stream->device) +
                  ") than the current one (device " + std::to_string(context->device) + ")");
}

std::vector<std::shared_ptr<Stream>> streams_of(Context &context) {
  std::vector<std::shared_ptr<Stream>> result;
  for (auto &stream : streams().all()) {
    if (stream->context == context.number) result.push_back(std::move(stream));
  }
  const std::lock_guard<std::mutex> hold(context.lock);
  if (context.main) result.push_back(context.main);
  return result;
}

int32_t any_event(const char *symbol, aclrtEvent handle, std::shared_ptr<Event> &event) {
  if (handle == nullptr) {
    return fail(code::INVALID_PARAM, std::string(symbol) + ": the event is NULL");
  }
  event = events().find(handle);
  if (event) return 0;
  return unknown(code::RT_PARAM_INVALID, symbol, "event", handle, events().known(handle));
}

}  // namespace sim
