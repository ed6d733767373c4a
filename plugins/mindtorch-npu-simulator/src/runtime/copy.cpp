// Copies and fills.
#include <cstring>
#include <optional>

#include "core/context.h"
#include "core/memory.h"
#include "runtime/arguments.h"

namespace sim {
namespace {

enum Kind : int32_t {
  HOST_TO_HOST = 0,
  HOST_TO_DEVICE = 1,
  DEVICE_TO_HOST = 2,
  DEVICE_TO_DEVICE = 3,
  BY_POINTERS = 4,
  THROUGH_BUFFER = 5,  // from the host to the device
};

// One end of a copy.
struct End {
  char *memory = nullptr;        // where the simulator finds the bytes
  std::optional<Range> tracked;  // unless it is ordinary memory of the host
  bool pageable = false;
  int device = ON_HOST;
};

struct Ends {
  End to;
  End from;
};

// What a call says about its two ends.
struct Copy {
  const char *symbol;
  void *to;
  size_t to_bytes;
  const void *from;
  size_t from_bytes;
  int32_t kind;
};

int32_t misused(const char *symbol, const char *kind, const std::string &text) {
  report(kind, std::string(symbol) + ": " + text);
  return refused(symbol, text);
}

// Find memory; `device` says on which side it must lie, if anything does.
int32_t resolve(const char *symbol, const char *role, const Range &range,
                const std::optional<bool> &device, End &end) {
  const uint64_t at = range.address;
  const auto block = block_at(at, range.bytes);
  const bool there = block ? block->device != ON_HOST : on_device(at);
  const std::string what = std::string(role) + " is " + describe(at, range.bytes);
  if (device && *device != there) {
    return misused(symbol, "wrong-memory",
                   what + (there ? ", but the kind says host memory" :
                                   ", but the kind says device memory"));
  }
  if (block) {
    end = {block->memory + (at - block->address), range, false, block->device};
    return 0;
  }
  if (there || std::strcmp(kind_of_miss(at), "out-of-bounds") == 0) {
    return misused(symbol, kind_of_miss(at), what);
  }
  end = {reinterpret_cast<char *>(at), std::nullopt, true, ON_HOST};
  return 0;
}

int32_t sides(const char *symbol, int32_t kind, std::optional<bool> &to,
              std::optional<bool> &from) {
  if (kind < HOST_TO_HOST || kind > THROUGH_BUFFER) return invalid(symbol, "kind is unknown");
  if (kind == BY_POINTERS) return 0;
  to = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE || kind == THROUGH_BUFFER;
  from = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
  return 0;
}

int32_t resolve(const Copy &copy, Ends &ends) {
  std::optional<bool> to;
  std::optional<bool> from;
  const char *symbol = copy.symbol;
  if (const int32_t code = sides(symbol, copy.kind, to, from)) return code;
  const Range written{reinterpret_cast<uint64_t>(copy.to), copy.to_bytes, true};
  const Range read{reinterpret_cast<uint64_t>(copy.from), copy.from_bytes, false};
  if (const int32_t code = resolve(symbol, "the destination", written, to, ends.to)) return code;
  if (const int32_t code = resolve(symbol, "the source", read, from, ends.from)) return code;
  const int a = ends.to.device;
  const int b = ends.from.device;
  if (a == ON_HOST || b == ON_HOST || reachable(a, b) || reachable(b, a)) return 0;
  return misused(symbol, "wrong-device",
                 "copies between devices that have no access to each other: call "
                 "aclrtDeviceEnablePeerAccess before");
}

std::vector<Range> tracked(const Ends &ends) {
  std::vector<Range> result;
  if (ends.from.tracked) result.push_back(*ends.from.tracked);
  if (ends.to.tracked) result.push_back(*ends.to.tracked);
  return result;
}

// Queue what moves the bytes. Memory of the host that is not pinned may be gone when the caller
// goes on: such a copy is waited for.
int32_t queue(const char *symbol, const std::shared_ptr<Stream> &stream, const Ends &ends,
              std::function<int32_t()> run) {
  count_copy();
  submit(stream, {symbol, tracked(ends), std::move(run)});
  if (!ends.to.pageable && !ends.from.pageable) return 0;
  count_synchronization(symbol);
  const auto done = std::make_shared<Record>();
  mark(stream, done);
  done->wait(FOREVER);
  host_saw(done->clock());
  return 0;
}

struct Pitch {
  size_t to;
  size_t from;
  size_t width;
  size_t height;
};

void move_rows(char *to, const char *from, const Pitch &pitch) {
  for (size_t row = 0; row < pitch.height; ++row) {
    std::memmove(to + row * pitch.to, from + row * pitch.from, pitch.width);
  }
}

int32_t check(const char *symbol, const void *dst, size_t most, const void *src, size_t count) {
  if (const int32_t code = required(symbol, "dst", dst)) return code;
  if (const int32_t code = required(symbol, "src", src)) return code;
  if (count <= most) return 0;
  return refused(symbol, "count " + std::to_string(count) + " is above destMax " +
                             std::to_string(most));
}

int32_t check(const char *symbol, const Copy &copy, const Pitch &pitch) {
  if (const int32_t code = required(symbol, "dst", copy.to)) return code;
  if (const int32_t code = required(symbol, "src", copy.from)) return code;
  if (pitch.width == 0 || pitch.height == 0) return refused(symbol, "width or height is 0");
  if (pitch.width > pitch.to || pitch.width > pitch.from) {
    return refused(symbol, "width is above a pitch");
  }
  return copy.kind == HOST_TO_HOST ? fail(code::RT_FEATURE_NOT_SUPPORT,
                                          std::string(symbol) + ": copies within the host are not "
                                                                "supported")
                                   : 0;
}

size_t extent(size_t pitch, const Pitch &rows) { return pitch * (rows.height - 1) + rows.width; }

// The ends of a copy of rows, from its first byte to its last.
int32_t resolve(Copy copy, const Pitch &pitch, Ends &ends) {
  if (const int32_t code = check(copy.symbol, copy, pitch)) return code;
  copy.to_bytes = extent(pitch.to, pitch);
  copy.from_bytes = extent(pitch.from, pitch);
  return resolve(copy, ends);
}

int32_t fill_end(const char *symbol, void *at, size_t most, size_t count, End &end) {
  if (const int32_t code = required(symbol, "devPtr", at)) return code;
  if (count > most) {
    return refused(symbol, "count " + std::to_string(count) + " is above maxCount " +
                               std::to_string(most));
  }
  const Range range{reinterpret_cast<uint64_t>(at), count, true};
  if (const int32_t code = resolve(symbol, "the memory", range, std::nullopt, end)) return code;
  if (!end.pageable) return 0;
  return misused(symbol, "wrong-memory", "the memory is neither a device's nor pinned");
}

int32_t need_context(const char *symbol) {
  std::shared_ptr<Context> context;
  return current(symbol, context);
}

}  // namespace

CANN_EXPORT aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                                 int32_t kind) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = need_context(__func__)) return code;
  if (const int32_t code = check(__func__, dst, destMax, src, count)) return code;
  if (count == 0) return 0;
  Ends ends;
  if (const int32_t code = resolve({__func__, dst, count, src, count, kind}, ends)) return code;
  host_touches(__func__, tracked(ends));
  std::memmove(ends.to.memory, ends.from.memory, count);
  return 0;
}

CANN_EXPORT aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                                      int32_t kind, aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  if (const int32_t code = check(__func__, dst, destMax, src, count)) return code;
  if (kind == HOST_TO_HOST) {
    return fail(code::RT_FEATURE_NOT_SUPPORT,
                std::string(__func__) + ": copies within the host are not supported");
  }
  if (count == 0) return 0;
  Ends ends;
  if (const int32_t code = resolve({__func__, dst, count, src, count, kind}, ends)) return code;
  char *to = ends.to.memory;
  const char *from = ends.from.memory;
  return queue(__func__, where, ends, [to, from, count] {
    std::memmove(to, from, count);
    return 0;
  });
}

CANN_EXPORT aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                                   size_t width, size_t height, int32_t kind) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = need_context(__func__)) return code;
  const Pitch pitch{dpitch, spitch, width, height};
  Ends ends;
  if (const int32_t code = resolve({__func__, dst, 0, src, 0, kind}, pitch, ends)) return code;
  host_touches(__func__, tracked(ends));
  move_rows(ends.to.memory, ends.from.memory, pitch);
  return 0;
}

CANN_EXPORT aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                        size_t width, size_t height, int32_t kind,
                                        aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  const Pitch pitch{dpitch, spitch, width, height};
  Ends ends;
  if (const int32_t code = resolve({__func__, dst, 0, src, 0, kind}, pitch, ends)) return code;
  char *to = ends.to.memory;
  const char *from = ends.from.memory;
  return queue(__func__, where, ends, [to, from, pitch] {
    move_rows(to, from, pitch);
    return 0;
  });
}

CANN_EXPORT aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  if (const int32_t code = enter(__func__)) return code;
  if (const int32_t code = need_context(__func__)) return code;
  Ends ends;
  if (const int32_t code = fill_end(__func__, devPtr, maxCount, count, ends.to)) return code;
  host_touches(__func__, tracked(ends));
  std::memset(ends.to.memory, value, count);
  return 0;
}

CANN_EXPORT aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                                      aclrtStream stream) {
  if (const int32_t code = enter(__func__)) return code;
  std::shared_ptr<Stream> where;
  if (const int32_t code = stream_for_work(__func__, stream, where)) return code;
  Ends ends;
  if (const int32_t code = fill_end(__func__, devPtr, maxCount, count, ends.to)) return code;
  char *to = ends.to.memory;
  return queue(__func__, where, ends, [to, value, count] {
    std::memset(to, value, count);
    return 0;
  });
}

}  // namespace sim
