// Devices, contexts and what is current on a thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "core/stream.h"

namespace sim {

struct Context {
  uint64_t number = 0;
  int id = 0;      // the device as the program numbers it
  int device = 0;  // the physical one
  bool primary = false;
  aclrtContext handle = nullptr;
  std::atomic<bool> live{true};
  std::mutex lock;
  std::shared_ptr<Stream> main;        // the default stream, made when it is first needed
  std::map<int32_t, int64_t> options;  // aclrtCtxSetSysParamOpt
};

Handles<Context> &contexts();

// ---- this thread --------------------------------------------------------------------------------

// The context of the thread; RT_CONTEXT_NULL, with a text that names the function, if it has none.
int32_t current(const char *symbol, std::shared_ptr<Context> &context);
void make_current(const std::shared_ptr<Context> &context);

// ---- devices ------------------------------------------------------------------------------------

// The physical number of a device; RT_INVALID_DEVICEID if the program has no such one.
int32_t physical(const char *symbol, int32_t id, int &device);

// A new context, current on this thread.
std::shared_ptr<Context> create_context(int32_t id, int device, bool primary);
// Wait for its work and end its streams and events.
void destroy_context(const std::shared_ptr<Context> &context);

// Count one use of the device more and make its primary context current.
void retain_device(int32_t id, int device);
// Count one less (all of them if `force`); with the last one the device is cleared. False if there
// was none.
bool release_device(int device, bool force);

// Whether kernels of one physical device may use the memory of another.
bool reachable(int from, int to);
void set_peer(int from, int to, bool enabled);

// ---- streams and events by handle ---------------------------------------------------------------

// The stream of a handle, of whichever context; the default stream of the context for nullptr.
int32_t any_stream(const char *symbol, aclrtStream handle, std::shared_ptr<Stream> &stream);
// The same for calls that queue work: the stream must be of the current context.
int32_t stream_for_work(const char *symbol, aclrtStream handle, std::shared_ptr<Stream> &stream);
// All streams of a context.
std::vector<std::shared_ptr<Stream>> streams_of(Context &context);
std::shared_ptr<Stream> main_stream(Context &context);

int32_t any_event(const char *symbol, aclrtEvent handle, std::shared_ptr<Event> &event);

}  // namespace sim
