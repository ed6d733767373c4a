#include "hccl/operation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hccl/dtypes.h"

namespace sim::hccl {
namespace {

constexpr uint64_t ALIGNED = 16;

bool same(const Record &a, const Record &b) {
  return std::strncmp(a.op, b.op, sizeof a.op) == 0 && a.count == b.count && a.dtype == b.dtype &&
         a.reduction == b.reduction && a.root == b.root;
}

// Tells whoever waits that a task has ended, also if it was dropped without having run.
class Ending {
 public:
  explicit Ending(std::function<void(bool)> end) : end_(std::move(end)) {}
  Ending(const Ending &) = delete;
  Ending &operator=(const Ending &) = delete;
  ~Ending() { end_(ran); }
  bool ran = false;

 private:
  std::function<void(bool)> end_;
};

// The ranks' records where they differ: every rank finds the same.
std::string difference(const Communicator &comm, uint64_t call) {
  std::vector<const Record *> records;
  for (uint32_t r = 0; r < comm.size; ++r) {
    records.push_back(&comm.segment->seat(r).records[call % 2]);
  }
  const auto count = [&records](const Record *record) {
    return std::count_if(records.begin(), records.end(),
                         [record](const Record *other) { return same(*record, *other); });
  };
  const Record *usual = *std::max_element(
      records.begin(), records.end(),
      [&count](const Record *a, const Record *b) { return count(a) < count(b); });
  for (uint32_t r = 0; r < comm.size; ++r) {
    if (same(*records[r], *usual)) continue;
    return "rank " + std::to_string(r) + " calls " + text_of(*records[r]) + ", others call " +
           text_of(*usual);
  }
  return "";
}

int32_t mismatch(Communicator &comm, const std::string &what, const std::string &why) {
  const std::string text = what + ": " + why;
  report("collective-mismatch", text);
  return comm.fail(HCCL_E_PARA, text);
}

int32_t move(Communicator &comm, const std::string &what, const Steps &steps) {
  for (uint64_t at = 0; at < steps.total; at += steps.piece) {
    const uint64_t bytes = std::min(steps.piece, steps.total - at);
    const uint64_t round = comm.round++;
    steps.give(comm.segment->window(comm.rank, round), at, bytes);
    if (const int32_t code = comm.barrier(what)) return code;
    std::vector<char *> windows;
    for (uint32_t r = 0; r < comm.size; ++r) windows.push_back(comm.segment->window(r, round));
    steps.take(windows, at, bytes);
  }
  return 0;
}

using Plan = std::function<std::string(Communicator &, uint64_t, Steps &)>;

int32_t run(Communicator &comm, uint64_t call, const Record &record,
            const std::vector<uint64_t> &numbers, const Plan &plan) {
  const std::string what = "call " + std::to_string(call) + " of " + comm.name + ", " +
                           text_of(record) + " of rank " + std::to_string(comm.rank);
  if (const int32_t code = comm.take_turn(call, what)) return code;
  comm.segment->seat(comm.rank).records[call % 2] = record;
  std::copy(numbers.begin(), numbers.end(), comm.segment->numbers(comm.rank, call));
  if (const int32_t code = comm.barrier(what)) return code;
  std::string why = difference(comm, call);
  if (!why.empty()) return mismatch(comm, what, why);
  Steps steps;
  why = plan(comm, call, steps);
  if (!why.empty()) return mismatch(comm, what, why);
  return move(comm, what, steps);
}

}  // namespace

Record record_of(const char *symbol, uint64_t count, int32_t dtype, int32_t reduction,
                 int32_t root) {
  Record record = {};
  std::strncpy(record.op, symbol, sizeof record.op - 1);
  record.count = count;
  record.dtype = dtype;
  record.reduction = reduction;
  record.root = root;
  return record;
}

std::string text_of(const Record &record) {
  std::string text = std::string(record.op) + "(";
  if (record.dtype >= 0) {
    text += std::to_string(record.count) + " x " + name_of_dtype(record.dtype);
  }
  if (record.reduction >= 0) text += ", " + name_of_reduction(record.reduction);
  if (record.root >= 0) text += ", root " + std::to_string(record.root);
  return text + ")";
}

// ---- checks ----------------------------------------------------------------------------------------

HcclResult Operation::check() {
  if (const HcclResult code = find(symbol, handle, comm)) return code;
  if (const HcclResult code = comm->usable(symbol)) return code;
  int device = 0;
  if (current_device(symbol, device) != 0) return HCCL_E_RUNTIME;
  if (device == comm->device) return HCCL_SUCCESS;
  return refused(HCCL_E_PARA, symbol, "the communicator is of device " +
                                          std::to_string(comm->device) + ", and the thread's is " +
                                          std::to_string(device));
}

HcclResult Operation::use(const char *parameter, const void *buffer, uint64_t bytes, bool written) {
  if (bytes == 0) return HCCL_SUCCESS;
  if (buffer == nullptr) return refused(HCCL_E_PTR, symbol, std::string(parameter) + " is NULL");
  uses.push_back({reinterpret_cast<uint64_t>(buffer), bytes, written});
  return HCCL_SUCCESS;
}

HcclResult Operation::check_moved() {
  const std::string why = cannot_move(record.dtype);
  return why.empty() ? HCCL_SUCCESS : refused(HCCL_E_NOT_SUPPORT, symbol, why);
}

HcclResult Operation::check_reduced() {
  const std::string why = cannot_reduce(record.dtype, record.reduction);
  return why.empty() ? HCCL_SUCCESS : refused(HCCL_E_NOT_SUPPORT, symbol, why);
}

HcclResult Operation::check_root(uint32_t rank) {
  if (rank < comm->size) return HCCL_SUCCESS;
  return refused(HCCL_E_PARA, symbol, "rank " + std::to_string(rank) + " of " +
                                          std::to_string(comm->size) + " ranks");
}

// ---- queuing ---------------------------------------------------------------------------------------

uint64_t share(const Communicator &comm) {
  return std::max(ALIGNED, WINDOW / comm.size / ALIGNED * ALIGNED);
}

HcclResult queue_task(Operation &operation, std::function<int32_t()> run,
                      std::function<void(bool)> end) {
  auto ending = std::make_shared<Ending>(std::move(end));
  Task task;
  task.name = operation.symbol;
  task.uses = operation.uses;
  task.run = [ending, run = std::move(run)] {
    ending->ran = true;
    return run();
  };
  return enqueue(operation.stream, std::move(task)) == 0 ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

HcclResult queue(Operation &operation, std::vector<uint64_t> numbers, Plan plan) {
  const std::shared_ptr<Communicator> comm = operation.comm;
  const uint64_t call = comm->next_call();
  const Record record = operation.record;
  return queue_task(
      operation,
      [comm, call, record, numbers = std::move(numbers), plan = std::move(plan)] {
        return hccl::run(*comm, call, record, numbers, plan);
      },
      [comm, call, record](bool ran) {
        if (!ran) {
          comm->fail_here("call " + std::to_string(call) + " of " + comm->name + ", " +
                          text_of(record) + ", did not run on rank " + std::to_string(comm->rank));
        }
        comm->end_turn(call);
      });
}

}  // namespace sim::hccl
