// Operations whose parts are equally large on all ranks.
#include <cstring>

#include "hccl/dtypes.h"
#include "hccl/operation.h"

namespace sim::hccl {
namespace {

char *at(const void *buffer, uint64_t bytes) {
  return bytes == 0 ? nullptr : reach(reinterpret_cast<uint64_t>(buffer), bytes);
}

// The first window, then all others added to it, into a place.
void fold(const Record &record, const std::vector<char *> &windows, uint64_t from, char *into,
          uint64_t bytes) {
  std::memcpy(into, windows[0] + from, bytes);
  for (size_t r = 1; r < windows.size(); ++r) {
    reduce(record.dtype, record.reduction, into, windows[r] + from,
           bytes / item_size(record.dtype));
  }
}

// What the others of a round have of it: `steps.give` for a whole buffer.
void give_whole(Steps &steps, const char *send, bool here) {
  steps.give = [send, here](char *window, uint64_t from, uint64_t bytes) {
    if (here) std::memcpy(window, send + from, bytes);
  };
}

// A piece for each rank, of parts that lie one after the other.
void give_parts(Steps &steps, const char *send, uint32_t size, bool here) {
  const uint64_t piece = steps.piece, total = steps.total;
  steps.give = [=](char *window, uint64_t from, uint64_t bytes) {
    for (uint64_t p = 0; here && p < size; ++p) {
      std::memcpy(window + p * piece, send + p * total + from, bytes);
    }
  };
}

}  // namespace

CANN_EXPORT HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, int32_t dataType,
                                     int32_t op, HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, count, dataType, op), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_reduced()) return code;
  if (count == 0) return HCCL_SUCCESS;
  const uint64_t total = count * item_size(dataType);
  if (const HcclResult code = o.use("sendBuf", sendBuf, total, sendBuf == recvBuf)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, total, true)) return code;
  return queue(o, {}, [=, record = o.record](Communicator &, uint64_t, Steps &steps) {
    steps.total = total;
    give_whole(steps, at(sendBuf, total), true);
    char *into = at(recvBuf, total);
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      fold(record, windows, 0, into + from, bytes);
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, int32_t dataType,
                                  int32_t op, uint32_t root, HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream,
              record_of(__func__, count, dataType, op, static_cast<int32_t>(root)), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_reduced()) return code;
  if (const HcclResult code = o.check_root(root)) return code;
  if (count == 0) return HCCL_SUCCESS;
  const uint64_t total = count * item_size(dataType);
  const bool here = o.comm->rank == root;
  if (const HcclResult code = o.use("sendBuf", sendBuf, total, here && sendBuf == recvBuf)) {
    return code;
  }
  if (here) {
    if (const HcclResult code = o.use("recvBuf", recvBuf, total, true)) return code;
  }
  return queue(o, {}, [=, record = o.record](Communicator &, uint64_t, Steps &steps) {
    steps.total = total;
    give_whole(steps, at(sendBuf, total), true);
    char *into = here ? at(recvBuf, total) : nullptr;
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      if (into != nullptr) fold(record, windows, 0, into + from, bytes);
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclBroadcast(void *buf, uint64_t count, int32_t dataType, uint32_t root,
                                     HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream,
              record_of(__func__, count, dataType, -1, static_cast<int32_t>(root)), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (const HcclResult code = o.check_root(root)) return code;
  if (count == 0) return HCCL_SUCCESS;
  const uint64_t total = count * item_size(dataType);
  const bool here = o.comm->rank == root;
  if (const HcclResult code = o.use("buf", buf, total, !here)) return code;
  return queue(o, {}, [=](Communicator &, uint64_t, Steps &steps) {
    steps.total = total;
    char *memory = at(buf, total);
    give_whole(steps, memory, here);
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      if (!here) std::memcpy(memory + from, windows[root], bytes);
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount,
                                     int32_t dataType, HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, sendCount, dataType), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (sendCount == 0) return HCCL_SUCCESS;
  const uint64_t total = sendCount * item_size(dataType), all = total * o.comm->size;
  if (const HcclResult code = o.use("sendBuf", sendBuf, total, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, all, true)) return code;
  return queue(o, {}, [=](Communicator &, uint64_t, Steps &steps) {
    steps.total = total;
    give_whole(steps, at(sendBuf, total), true);
    char *into = at(recvBuf, all);
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      for (size_t r = 0; r < windows.size(); ++r) {
        std::memcpy(into + r * total + from, windows[r], bytes);
      }
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                         int32_t dataType, int32_t op, HcclComm comm,
                                         aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, recvCount, dataType, op), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_reduced()) return code;
  if (recvCount == 0) return HCCL_SUCCESS;
  const uint64_t total = recvCount * item_size(dataType), all = total * o.comm->size;
  if (const HcclResult code = o.use("sendBuf", sendBuf, all, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, total, true)) return code;
  return queue(o, {}, [=, record = o.record](Communicator &c, uint64_t, Steps &steps) {
    steps.total = total;
    steps.piece = share(c);
    give_parts(steps, at(sendBuf, all), c.size, true);
    char *into = at(recvBuf, total);
    const uint64_t place = c.rank * steps.piece;
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      fold(record, windows, place, into + from, bytes);
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                   int32_t dataType, uint32_t root, HcclComm comm,
                                   aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream,
              record_of(__func__, recvCount, dataType, -1, static_cast<int32_t>(root)), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (const HcclResult code = o.check_root(root)) return code;
  if (recvCount == 0) return HCCL_SUCCESS;
  const uint64_t total = recvCount * item_size(dataType), all = total * o.comm->size;
  const bool here = o.comm->rank == root;
  if (here) {
    if (const HcclResult code = o.use("sendBuf", sendBuf, all, false)) return code;
  }
  if (const HcclResult code = o.use("recvBuf", recvBuf, total, true)) return code;
  return queue(o, {}, [=](Communicator &c, uint64_t, Steps &steps) {
    steps.total = total;
    steps.piece = share(c);
    give_parts(steps, here ? at(sendBuf, all) : nullptr, c.size, here);
    char *into = at(recvBuf, total);
    const uint64_t place = c.rank * steps.piece;
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      std::memcpy(into + from, windows[root] + place, bytes);
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, int32_t sendType,
                                    const void *recvBuf, uint64_t recvCount, int32_t recvType,
                                    HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, sendCount, sendType), {}};
  if (const HcclResult code = o.check()) return code;
  if (const HcclResult code = o.check_moved()) return code;
  if (sendCount != recvCount || sendType != recvType) {
    return refused(HCCL_E_PARA, __func__, "what is sent to a rank differs from what is received");
  }
  if (sendCount == 0) return HCCL_SUCCESS;
  const uint64_t total = sendCount * item_size(sendType), all = total * o.comm->size;
  if (const HcclResult code = o.use("sendBuf", sendBuf, all, false)) return code;
  if (const HcclResult code = o.use("recvBuf", recvBuf, all, true)) return code;
  return queue(o, {}, [=](Communicator &c, uint64_t, Steps &steps) {
    steps.total = total;
    steps.piece = share(c);
    give_parts(steps, at(sendBuf, all), c.size, true);
    char *into = at(recvBuf, all);
    const uint64_t place = c.rank * steps.piece;
    steps.take = [=](const std::vector<char *> &windows, uint64_t from, uint64_t bytes) {
      for (size_t r = 0; r < windows.size(); ++r) {
        std::memcpy(into + r * total + from, windows[r] + place, bytes);
      }
    };
    return std::string();
  });
}

CANN_EXPORT HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = enter(__func__)) return code;
  Operation o{__func__, comm, stream, record_of(__func__, 0, -1), {}};
  if (const HcclResult code = o.check()) return code;
  return queue(o, {}, [](Communicator &, uint64_t, Steps &) { return std::string(); });
}

}  // namespace sim::hccl
