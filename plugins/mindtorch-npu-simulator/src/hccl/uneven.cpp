// Operations whose parts differ from rank to rank: the ranks compare all sizes before data moves.
#include <algorithm>
#include <cstring>

#include "hccl/dtypes.h"
#include "hccl/operation.h"

namespace sim::hccl {
namespace {

// Parts of a buffer, in bytes, by rank.
struct Parts {
  std::vector<uint64_t> bytes, places;
  uint64_t end = 0;  // of what they take up

  Parts() = default;
  Parts(const void *counts, const void *displacements, uint64_t item, uint32_t size) {
    const auto *n = static_cast<const uint64_t *>(counts);
    const auto *d = static_cast<const uint64_t *>(displacements);
    for (uint32_t r = 0; r < size; ++r) {
      bytes.push_back(n[r] * item);
      places.push_back(d[r] * item);
      if (bytes[r] > 0) end = std::max(end, places[r] + bytes[r]);
    }
  }
};

char *at(const void *buffer, uint64_t bytes) {
  return bytes == 0 ? nullptr : reach(reinterpret_cast<uint64_t>(buffer), bytes);
}

// A piece of what is left of a part.
uint64_t left(const Parts &parts, uint64_t rank, uint64_t from, uint64_t bytes) {
  return from < parts.bytes[rank] ? std::min(bytes, parts.bytes[rank] - from) : 0;
}

void give_parts(Steps &steps, const char *send, const Parts &parts) {
  const uint64_t piece = steps.piece;
  steps.give = [=](char *window, uint64_t from, uint64_t bytes) {
    for (uint64_t p = 0; p < parts.bytes.size(); ++p) {
      const uint64_t n = left(parts, p, from, bytes);
      if (n > 0) std::memcpy(window + p * piece, send + parts.places[p] + from, n);
    }
  };
}

void take_parts(Steps &steps, char *into, const Parts &parts, uint64_t place) {
  steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
    for (uint64_t r = 0; r < windows.size(); ++r) {
      const uint64_t n = left(parts, r, from, bytes);
      if (n > 0) std::memcpy(into + parts.places[r] + from, windows[r] + place, n);
    }
  };
}

std::vector<uint64_t> both(const Parts &sent, const Parts &received, uint32_t size) {
  std::vector<uint64_t> row = sent.bytes;
  row.resize(size);
  row.insert(row.end(), received.bytes.begin(), received.bytes.end());
  row.resize(uint64_t{2} * size);
  return row;
}

// What each sends to each must be what that one expects.
std::string unlike(Communicator &c, uint64_t call, uint64_t &most) {
  for (uint32_t from = 0; from < c.size; ++from) {
    for (uint32_t to = 0; to < c.size; ++to) {
      const uint64_t sent = c.segment->numbers(from, call)[to];
      const uint64_t wanted = c.segment->numbers(to, call)[c.size + from];
      most = std::max(most, sent);
      if (sent == wanted) continue;
      return "rank " + std::to_string(from) + " sends " + std::to_string(sent) +
             " bytes to rank " + std::to_string(to) + ", which expects " + std::to_string(wanted);
    }
  }
  return "";
}

}  // namespace

CANN_EXPORT HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts,
                                     const void *sdispls, int32_t sendType, const void *recvBuf,
                                     const void *recvCounts, const void *rdispls, int32_t recvType,
                                     HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, 0, sendType), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (sendType != recvType) return refused(HCCL_E_PARA, __func__, "sendType is not recvType");
  for (const void *each : {sendCounts, sdispls, recvCounts, rdispls}) {
    if (each == nullptr) return refused(HCCL_E_PTR, __func__, "an array of sizes is NULL");
  }
  const uint64_t item = item_size(sendType);
  const Parts sent(sendCounts, sdispls, item, o.comm->size);
  const Parts received(recvCounts, rdispls, item, o.comm->size);
  if (const HcclResult code = o.use("sendBuf", sendBuf, sent.end, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, received.end, true)) return code;
  const auto plan = [=](Communicator &c, uint64_t call, Steps &steps) {
    const std::string why = unlike(c, call, steps.total);
    steps.piece = share(c);
    give_parts(steps, at(sendBuf, sent.end), sent);
    take_parts(steps, at(recvBuf, received.end), received, c.rank * steps.piece);
    return why;
  };
  return queue(o, both(sent, received, o.comm->size), plan);
}

CANN_EXPORT HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf,
                                      const void *recvCounts, const void *recvDispls,
                                      int32_t dataType, HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, 0, dataType), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (recvCounts == nullptr || recvDispls == nullptr) {
    return refused(HCCL_E_PTR, __func__, "an array of sizes is NULL");
  }
  const uint64_t item = item_size(dataType), own = sendCount * item;
  const Parts received(recvCounts, recvDispls, item, o.comm->size);
  if (const HcclResult code = o.use("sendBuf", sendBuf, own, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, received.end, true)) return code;
  Parts sent;  // the same to each
  sent.bytes.assign(o.comm->size, own);
  const auto plan = [=](Communicator &c, uint64_t call, Steps &steps) {
    const std::string why = unlike(c, call, steps.total);
    const char *send = at(sendBuf, own);
    steps.give = [=](char *window, uint64_t from, uint64_t bytes) {
      if (from < own) std::memcpy(window, send + from, std::min(bytes, own - from));
    };
    take_parts(steps, at(recvBuf, received.end), received, 0);
    return why;
  };
  return queue(o, both(sent, received, o.comm->size), plan);
}

CANN_EXPORT HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts,
                                          const void *sendDispls, void *recvBuf, uint64_t recvCount,
                                          int32_t dataType, int32_t op, HcclComm comm,
                                          aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, 0, dataType, op), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_reduced()) return code;
  if (sendCounts == nullptr || sendDispls == nullptr) {
    return refused(HCCL_E_PTR, __func__, "an array of sizes is NULL");
  }
  const uint64_t item = item_size(dataType), own = recvCount * item;
  const Parts sent(sendCounts, sendDispls, item, o.comm->size);
  if (const HcclResult code = o.use("sendBuf", sendBuf, sent.end, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, own, true)) return code;
  Parts received;  // the same of each
  received.bytes.assign(o.comm->size, own);
  const auto plan = [=](Communicator &c, uint64_t call, Steps &steps) {
    const std::string why = unlike(c, call, steps.total);
    steps.piece = share(c);
    give_parts(steps, at(sendBuf, sent.end), sent);
    char *into = at(recvBuf, own);
    const uint64_t place = c.rank * steps.piece;
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      if (from >= own) return;
      const uint64_t n = std::min(bytes, own - from);
      std::memcpy(into + from, windows[0] + place, n);
      for (size_t r = 1; r < windows.size(); ++r) {
        reduce(dataType, op, into + from, windows[r] + place, n / item);
      }
    };
    return why;
  };
  return queue(o, both(sent, received, o.comm->size), plan);
}

}  // namespace sim::hccl
