// What operations have in common: their arguments are checked and they are put on a stream, where they
// compare what the ranks call before data moves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hccl/communicator.h"

namespace sim::hccl {

// An operation that is being queued.
struct Operation {
  const char *symbol;
  HcclComm handle;
  aclrtStream stream;
  Record record;
  std::vector<Range> uses;
  std::shared_ptr<Communicator> comm = nullptr;

  // Whether the communicator can take it; fills `comm`.
  HcclResult check();
  // A buffer of so many bytes; HCCL_E_PTR if it is NULL.
  HcclResult use(const char *parameter, const void *buffer, uint64_t bytes, bool written);
  // Whether the processor moves, or reduces, the record's type.
  HcclResult check_moved();
  HcclResult check_reduced();
  HcclResult check_root(uint32_t rank);
};

Record record_of(const char *symbol, uint64_t count, int32_t dtype, int32_t reduction = -1,
                 int32_t root = -1);
std::string text_of(const Record &record);

// What a rank does in an operation whose parts have `total` bytes, the same on all ranks. Both get
// where in the part the piece begins, and its bytes.
struct Steps {
  uint64_t total = 0;
  uint64_t piece = WINDOW;  // of it at a time
  // Put a piece, or one for each rank, into the own window.
  std::function<void(char *window, uint64_t at, uint64_t bytes)> give;
  // Take what is wanted out of the ranks' windows.
  std::function<void(const std::vector<char *> &windows, uint64_t at, uint64_t bytes)> take;
};

// Bytes of a window for each rank, where every rank gets a piece of its own.
uint64_t share(const Communicator &comm);

// Queue an operation that all ranks take part in. `numbers` are this rank's sizes, what it sends to
// each and what it expects of each; `plan` is called on the stream when all ranks agree. It gives the
// text of what is wrong with the ranks' sizes, empty if nothing is.
HcclResult queue(Operation &operation, std::vector<uint64_t> numbers,
                 std::function<std::string(Communicator &, uint64_t call, Steps &)> plan);

// Queue a task that is no collective operation; `run` gives the code of the stream's failure.
HcclResult queue_task(Operation &operation, std::function<int32_t()> run,
                      std::function<void(bool ran)> end);

}  // namespace sim::hccl
