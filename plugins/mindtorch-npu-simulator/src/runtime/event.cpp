// Events.
#include "core/context.h"
#include "core/settings.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

constexpr uint32_t SYNC = 0x1;
constexpr uint32_t PROGRESS = 0x2;
constexpr uint32_t TIME_LINE = 0x8;
constexpr uint32_t EVENT_FLAGS = 0x7b;
constexpr int32_t RECORDED_NOT_READY = 0;  // aclrtEventRecordedStatus
constexpr int32_t RECORDED_COMPLETE = 1;
constexpr int32_t COMPLETE = 0;  // aclrtEventStatus and aclrtEventWaitStatus
constexpr int32_t NOT_READY = 1;

std::atomic<size_t> hardware_events{0};

int32_t create(const char *symbol, aclrtEvent *result, uint32_t flags, bool extended) {
  if (const int32_t code = required(symbol, "event", result)) return code;
  if (flags == 0 || (flags & ~EVENT_FLAGS) != 0) return refused(symbol, "flag is not valid");
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  if (!extended && hardware_events >= processor().events) {
    return fail(code::RT_NO_EVENT_RESOURCE, std::string(symbol) + ": no event is left");
  }
  auto event = std::shared_ptr<Event>(new Event, [](Event *e) {
    if (!e->extended) --hardware_events;
    delete e;
  });
  event->extended = extended;
  if (!extended) ++hardware_events;
  event->context = context->number;
  event->device = context->device;
  event->flags = flags;
  // Work may wait for an ordinary event before it is recorded, but not for an Ex event.
  if (!extended) event->record = std::make_shared<Record>();
  *result = events().add(event);
  made("event");
  return 0;
}

int32_t not_extended(const char *symbol, aclrtEvent handle, std::shared_ptr<Event> &event) {
  if (const int32_t code = any_event(symbol, handle, event)) return code;
  return event->extended ? refused(symbol, "is not for events of aclrtCreateEventExWithFlag") : 0;
}

// Whether the last recording is complete; the host has then seen what came before it. Gives the
// failure of a stream that goes no further.
int32_t query(Event &event, bool &complete) {
  const auto record = event.last();
  complete = !record || record->done();
  if (!record || !record->bound()) return 0;
  if (complete) host_saw(record->clock());
  const auto stream = record->stream();
  return stream ? stream->kept_failure() : 0;
}

int32_t synchronize(const char *symbol, aclrtEvent handle, int32_t timeout) {
  std::shared_ptr<Event> event;
  if (const int32_t code = any_event(symbol, handle, event)) return code;
  count_synchronization(symbol);
  const auto record = event->last();
  if (!record) return 0;
  if (!record->bound()) return refused(symbol, "the event was never recorded");
  if (!record->wait(timeout)) {
    return fail(code::RT_EVENT_SYNC_TIMEOUT, std::string(symbol) + ": not reached in " +
                                                 std::to_string(timeout) + " ms");
  }
  host_saw(record->clock());
  const auto stream = record->stream();
  return stream ? stream->take_failure() : 0;
}

int32_t stamp(const char *symbol, aclrtEvent handle, uint64_t &us) {
  std::shared_ptr<Event> event;
  if (const int32_t code = any_event(symbol, handle, event)) return code;
  const auto record = event->last();
  if ((event->flags & TIME_LINE) != 0 && record && record->done()) {
    us = record->stamp();
    return 0;
  }
  return fail(code::RT_EVENT_TIMESTAMP_INVALID,
              std::string(symbol) + ": an event has no time: it was made without TIME_LINE, or its "
                                    "stream has not reached it");
}

}  // namespace

CANN_EXPORT aclError aclrtCreateEvent(aclrtEvent *event) {
  if (const int32_t code = enter(__func__)) return code;
  return create(__func__, event, SYNC | PROGRESS | TIME_LINE, false);
}

CANN_EXPORT aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
  if (const int32_t code = enter(__func__)) return code;
  return create(__func__, event, flag, false);
}

CANN_EXPORT aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
  if (const int32_t code = enter(__func__)) return code;
  return create(__func__, event, flag, true);
}

CANN_EXPORT aclError aclrtDestroyEvent(aclrtEvent event) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Event> found;
  if (const int32_t code = any_event(__func__, event, found)) return code;
  if (!events().take(event)) return refused(__func__, "another thread destroys the event");
  gone("event");
  return 0;
}

CANN_EXPORT aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> where;
  if (const int32_t code = any_event(__func__, event, found)) return code;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  if (found->context != where->context) {
    return fail(code::RT_STREAM_CONTEXT,
                std::string(__func__) + ": the event is of another context than the stream");
  }
  record(where, *found);
  return 0;
}

CANN_EXPORT aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> where;
  if (const int32_t code = not_extended(__func__, event, found)) return code;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  const std::lock_guard<std::mutex> hold(found->lock);
  found->record = std::make_shared<Record>();
  return 0;
}

CANN_EXPORT aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> where;
  if (const int32_t code = any_event(__func__, event, found)) return code;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  if (found->extended && (found->flags & SYNC) == 0) {
    return refused(__func__, "streams cannot wait for an event made without the flag SYNC (1)");
  }
  const auto record = found->last();
  if (!record) return 0;
  const auto waits = found->waits;
  ++*waits;
  wait_for(where, record, std::shared_ptr<void>(nullptr, [waits](void *) { --*waits; }));
  return 0;
}

CANN_EXPORT aclError aclrtQueryEventStatus(aclrtEvent event, int32_t *status) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "status", status)) return code;
  std::shared_ptr<Event> found;
  if (const int32_t code = any_event(__func__, event, found)) return code;
  bool complete = false;
  const int32_t code = query(*found, complete);
  *status = complete ? RECORDED_COMPLETE : RECORDED_NOT_READY;
  return code;
}

CANN_EXPORT aclError aclrtQueryEvent(aclrtEvent event, int32_t *status) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "status", status)) return code;
  std::shared_ptr<Event> found;
  if (const int32_t code = not_extended(__func__, event, found)) return code;
  bool complete = false;
  const int32_t code = query(*found, complete);
  *status = complete ? COMPLETE : NOT_READY;
  return code;
}

CANN_EXPORT aclError aclrtQueryEventWaitStatus(aclrtEvent event, int32_t *status) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "status", status)) return code;
  std::shared_ptr<Event> found;
  if (const int32_t code = not_extended(__func__, event, found)) return code;
  *status = *found->waits == 0 ? COMPLETE : NOT_READY;
  return 0;
}

CANN_EXPORT aclError aclrtSynchronizeEvent(aclrtEvent event) {
  if (const int32_t code = enter(__func__)) return code;
  return synchronize(__func__, event, FOREVER);
}

CANN_EXPORT aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = check_timeout(__func__, timeout)) return code;
  return synchronize(__func__, event, timeout);
}

CANN_EXPORT aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "ms", ms)) return code;
  uint64_t start = 0;
  uint64_t end = 0;
  if (const int32_t code = stamp(__func__, startEvent, start)) return code;
  if (const int32_t code = stamp(__func__, endEvent, end)) return code;
  if (end < start) {
    return fail(code::RT_EVENT_TIMESTAMP_REVERSAL,
                std::string(__func__) + ": the end was reached before the start");
  }
  *ms = static_cast<float>(static_cast<double>(end - start) / 1000.0);
  return 0;
}

CANN_EXPORT aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "timestamp", timestamp)) return code;
  return stamp(__func__, event, *timestamp);
}

}  // namespace sim
