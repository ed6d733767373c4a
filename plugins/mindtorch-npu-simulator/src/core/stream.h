// Streams and events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/core.h"
#include "core/handles.h"
#include "core/memory.h"

namespace sim {

constexpr int FOREVER = -1;
constexpr int32_t NOT_IN_TIME = -1;
constexpr int SLICE_MS = 5;  // how often a stream that waits looks whether it was aborted

class Stream;

// One recording of an event: a marker in a stream. It outlives its event while something waits.
class Record {
 public:
  // The stream has reached the marker.
  void complete();
  bool done() const;
  // The marker is bound to a stream, with its clock at that moment.
  void bind(const std::shared_ptr<Stream> &stream, const Clock &clock);
  bool bound() const;
  uint64_t stamp() const;
  Clock clock() const;
  std::shared_ptr<Stream> stream() const;
  // False if it was not done in time (milliseconds).
  bool wait(int timeout) const;

 private:
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  bool bound_ = false;
  uint64_t stamp_ = 0;
  Clock clock_;
  std::weak_ptr<Stream> stream_;
};

// A task in a queue, with the blocks it uses.
struct Queued {
  Task task;
  std::vector<std::shared_ptr<Block>> blocks;
  bool doomed = false;  // it must not run: the watcher has said why
  // A marker completes this, also after a failure that stops the stream.
  std::shared_ptr<Record> record = nullptr;
};

class Stream {
 public:
  Stream(uint64_t context, int device, uint32_t flags);
  ~Stream();

  const uint64_t context;  // the number of its context
  const int device;        // physical id
  const uint32_t flags;
  const int32_t number;    // unique in the process
  size_t agent = HOST;     // guarded by submission(), as is the clock
  Clock clock;

  // The caller holds submission().
  void push(Queued queued);

  // Wait until all that is queued now has run. NOT_IN_TIME after so many milliseconds, otherwise
  // the failure, which is thereby delivered.
  int32_t synchronize(int timeout);
  bool idle() const;
  int32_t take_failure();
  // The failure of a stream that goes no further because of it.
  int32_t kept_failure() const;

  void stop_on_failure(bool stop);
  // Drop what is queued; waiting calls then give RT_STREAM_ABORT.
  void abort(int32_t code);
  bool dropping() const;
  // Whether a task that waits for others should give up; see core.h.
  bool stopping() const;
  // No more tasks: let the queue run empty, or drop it, and end the thread.
  void close(bool drop);
  // Whether the calling thread is the one that runs the tasks: it cannot wait for itself.
  bool runs_here() const;

 private:
  void work();
  void run(Queued &queued);
  int32_t execute(Queued &queued);
  void set_failure(int32_t code, const std::string &text);

  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  std::deque<Queued> queue_;
  uint64_t pushed_ = 0;
  uint64_t finished_ = 0;
  bool closing_ = false;
  uint64_t closing_since_ = 0;
  bool dropping_ = false;
  bool stops_ = false;
  int32_t failure_ = 0;
  std::string failure_text_;
  std::thread worker_;
};

struct Event {
  uint64_t context = 0;
  int device = 0;
  uint32_t flags = 0;
  bool extended = false;  // an Ex event
  std::shared_ptr<std::atomic<int>> waits = std::make_shared<std::atomic<int>>(0);
  std::mutex lock;
  std::shared_ptr<Record> record;  // of an Ex event none before the first recording

  std::shared_ptr<Record> last() {
    const std::lock_guard<std::mutex> hold(lock);
    return record;
  }
};

Handles<Stream> &streams();
Handles<Event> &events();

// Put a task behind what is queued: checks its memory, moves the clocks.
void submit(const std::shared_ptr<Stream> &stream, Task task);
// Complete the recording when the stream has done what is queued now.
void mark(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Record> &record);
// Bind a new recording of the event to the end of the stream.
void record(const std::shared_ptr<Stream> &stream, Event &event);
// Let later work of the stream wait for the recording; the token is dropped when it has waited.
void wait_for(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Record> &record,
              const std::shared_ptr<void> &token);
// The host has seen all that the clock covers.
void host_saw(const Clock &clock);
// The host itself reads or writes device memory, outside all streams.
void host_touches(const char *symbol, const std::vector<Range> &ranges);
// The host has waited for a stream: gives its failure, and keeps the text for the thread.
int32_t finish(const std::shared_ptr<Stream> &stream, int timeout);

// Seconds that a stream may wait for an event, 0 for ever.
void set_wait_limit(uint32_t seconds);

struct Totals {
  uint64_t launches = 0;          // tasks of operators
  uint64_t copies = 0;            // asynchronous copies and fills
  uint64_t synchronizations = 0;  // waits of the host for a stream, an event or a device
};

Totals totals();
void clear_totals();
void count_copy();
void count_synchronization(const char *symbol);

}  // namespace sim
