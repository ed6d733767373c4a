// Streams.
#include "core/stream.h"

#include "core/context.h"
#include "core/settings.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

constexpr uint32_t STREAM_FLAGS = 0x3f;
constexpr int32_t COMPLETE = 0;
constexpr int32_t NOT_READY = 1;

int32_t create(const char *symbol, aclrtStream *result, uint32_t flags) {
  if (const int32_t code = required(symbol, "stream", result)) return code;
  std::shared_ptr<Context> context;
  if (const int32_t code = current(symbol, context)) return code;
  if (streams().size() >= processor().streams) {
    return fail(code::RT_NO_STREAM_RESOURCE,
                std::string(symbol) + ": all " + std::to_string(processor().streams) +
                    " streams of the device exist already");
  }
  *result = streams().add(std::make_shared<Stream>(context->number, context->device, flags));
  made("stream");
  return 0;
}

int32_t destroy(const char *symbol, aclrtStream handle, bool force) {
  if (const int32_t code = required(symbol, "stream", handle)) return code;
  std::shared_ptr<Stream> stream;
  if (const int32_t code = stream_for_work(symbol, handle, stream)) return code;
  if (stream->runs_here()) return refused(symbol, "called by a callback of the stream itself");
  if (!streams().take(handle)) return refused(symbol, "another thread destroys the stream");
  stream->close(force);
  gone("stream");
  return 0;
}

int32_t synchronize(const char *symbol, aclrtStream handle, int32_t timeout) {
  std::shared_ptr<Stream> stream;
  if (const int32_t code = any_stream(symbol, handle, stream)) return code;
  count_synchronization(symbol);
  const int32_t code = finish(stream, timeout);
  if (code != NOT_IN_TIME) return code;
  return fail(code::RT_STREAM_SYNC_TIMEOUT,
              std::string(symbol) + ": stream " + std::to_string(stream->number) +
                  " is not done in " + std::to_string(timeout) + " ms");
}

}  // namespace

CANN_EXPORT aclError aclrtCreateStream(aclrtStream *stream) {
  if (const int32_t code = enter(__func__)) return code;
  return create(__func__, stream, 0);
}

CANN_EXPORT aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                                 uint32_t flag) {
  if (const int32_t code = enter(__func__)) return code;
  if (priority > 7) return refused(__func__, "priority is not 0 to 7");
  if ((flag & ~STREAM_FLAGS) != 0) return refused(__func__, "flag has unknown bits");
  return create(__func__, stream, flag);
}

CANN_EXPORT aclError aclrtDestroyStream(aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  return destroy(__func__, stream, false);
}

CANN_EXPORT aclError aclrtDestroyStreamForce(aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  return destroy(__func__, stream, true);
}

CANN_EXPORT aclError aclrtSynchronizeStream(aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  return synchronize(__func__, stream, FOREVER);
}

CANN_EXPORT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = check_timeout(__func__, timeout)) return code;
  return synchronize(__func__, stream, timeout);
}

CANN_EXPORT aclError aclrtStreamQuery(aclrtStream stream, int32_t *status) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "status", status)) return code;
  std::shared_ptr<Stream> found;
  if (const int32_t code = any_stream(__func__, stream, found)) return code;
  if (const int32_t code = found->kept_failure()) return code;
  Clock clock;
  {
    const std::lock_guard<std::mutex> hold(submission());
    clock = found->clock;
  }
  const bool idle = found->idle();
  if (idle) host_saw(clock);
  *status = idle ? COMPLETE : NOT_READY;
  return 0;
}

CANN_EXPORT aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = required(__func__, "streamId", streamId)) return code;
  std::shared_ptr<Stream> found;
  if (const int32_t code = any_stream(__func__, stream, found)) return code;
  *streamId = found->number;
  return 0;
}

CANN_EXPORT aclError aclrtStreamAbort(aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> found;
  if (const int32_t code = stream_for_work(__func__, stream, found)) return code;
  found->abort(code::RT_STREAM_ABORT);
  return 0;
}

CANN_EXPORT aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  if (const int32_t code = enter(__func__)) return code;
  if (mode > 1) return refused(__func__, "mode is not 0 or 1");
  std::shared_ptr<Stream> found;
  if (const int32_t code = any_stream(__func__, stream, found)) return code;
  found->stop_on_failure(mode == 1);
  return 0;
}

CANN_EXPORT aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  if (const int32_t code = enter(__func__)) return code;
  if (flag > 1) return refused(__func__, "flag is not 0 or 1");
  std::shared_ptr<Stream> found;
  return any_stream(__func__, stream, found);
}

}  // namespace sim
