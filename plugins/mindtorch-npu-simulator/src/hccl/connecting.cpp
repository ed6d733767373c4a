// Communicators: how ranks find each other, and what a communicator says of itself.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/core.h"
#include "hccl/communicator.h"

namespace sim::hccl {
namespace {

constexpr uint32_t CONFIG_MAGIC = 0xf0f0f0f0;
constexpr size_t CONFIG_LEAST = offsetof(HcclCommConfig, name);
constexpr size_t NAME = 128;

// Segments of root infos that this process has given, until it has joined with all others.
struct Given {
  std::mutex lock;
  std::vector<std::shared_ptr<Segment>> segments;

  void keep(std::shared_ptr<Segment> segment) {
    const std::lock_guard<std::mutex> hold(lock);
    segments.push_back(std::move(segment));
  }
  void drop(uint64_t token) {
    const std::lock_guard<std::mutex> hold(lock);
    const auto of_token = [token](const auto &each) { return each->token() == token; };
    segments.erase(std::remove_if(segments.begin(), segments.end(), of_token), segments.end());
  }
};

Given &given() {
  static Given &value = *new Given;
  return value;
}

HcclResult check_config(const char *symbol, const HcclCommConfig *config) {
  if (config == nullptr) return refused(HCCL_E_PTR, symbol, "config is NULL");
  if (config->magic != CONFIG_MAGIC || config->size < CONFIG_LEAST) {
    return refused(HCCL_E_PARA, symbol, "config was not initialised: size " +
                                            std::to_string(config->size) + ", magic " +
                                            std::to_string(config->magic));
  }
  return HCCL_SUCCESS;
}

std::string name_of(const Segment &segment, const HcclCommConfig *config) {
  if (config != nullptr && config->size >= offsetof(HcclCommConfig, udi) && config->name[0] != 0) {
    return std::string(config->name, strnlen(config->name, NAME - 1));
  }
  char text[40];
  std::snprintf(text, sizeof text, "hccl_%016llx",
                static_cast<unsigned long long>(segment.token()));
  return text;
}

// Take a seat and wait for the others.
HcclResult join(const char *symbol, std::shared_ptr<Segment> segment, uint32_t ranks, uint32_t rank,
                const HcclCommConfig *config, HcclComm *comm) {
  if (ranks == 0 || ranks > MOST_RANKS || rank >= ranks) {
    return refused(HCCL_E_PARA, symbol, "rank " + std::to_string(rank) + " of " +
                                            std::to_string(ranks) + " ranks");
  }
  int device = 0;
  if (current_device(symbol, device) != 0) return HCCL_E_RUNTIME;
  if (!segment->size_to(ranks)) {
    return refused(HCCL_E_PARA, symbol, "other ranks have said another number of ranks than " +
                                            std::to_string(ranks));
  }
  auto made = std::make_shared<Communicator>(segment, rank, device, name_of(*segment, config));
  if (const HcclResult code = made->sit(symbol)) return code;
  if (const HcclResult code = made->await_all(symbol)) {
    made->leave();
    return code;
  }
  *comm = communicators().add(made);
  sim::made("communicator");
  return HCCL_SUCCESS;
}

HcclResult join_by_info(const char *symbol, uint32_t ranks, const HcclRootInfo *info, uint32_t rank,
                        const HcclCommConfig *config, HcclComm *comm) {
  if (info == nullptr || comm == nullptr) return refused(HCCL_E_PTR, symbol, "a pointer is NULL");
  Address address;
  std::memcpy(&address, info->internal, sizeof address);
  HcclResult code = HCCL_SUCCESS;
  auto segment = Segment::open(address, code);
  if (!segment) return code;
  code = join(symbol, segment, ranks, rank, config, comm);
  if (code == HCCL_SUCCESS) given().drop(segment->token());
  return code;
}

// The address that the first member of a part has offered to the others, through the whole's memory.
HcclResult part_of(const char *symbol, Communicator &whole, uint32_t first, uint64_t id,
                   std::shared_ptr<Segment> &segment) {
  Seat &seat = whole.segment->seat(first);
  if (whole.rank == first) {
    Address address;
    segment = Segment::create(address);
    if (!segment) return HCCL_E_SYSCALL;
    seat.offer = address;
    seat.offered = id + 1;
    whole.segment->ring();
    return HCCL_SUCCESS;
  }
  const auto offered = [&seat, id] { return seat.offered == id + 1; };
  const int32_t missed = whole.await(symbol, offered, [&](uint32_t r) { return r != first; });
  if (missed != 0) return HCCL_E_TIMEOUT;
  HcclResult code = HCCL_SUCCESS;
  segment = Segment::open(seat.offer, code);
  return code;
}

}  // namespace

CANN_EXPORT HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo) {
  if (const HcclResult code = enter(__func__)) return code;
  if (rootInfo == nullptr) return refused(HCCL_E_PTR, __func__, "rootInfo is NULL");
  Address address;
  auto segment = Segment::create(address);
  if (!segment) return HCCL_E_SYSCALL;
  std::memset(rootInfo, 0, sizeof *rootInfo);
  std::memcpy(rootInfo->internal, &address, sizeof address);
  given().keep(std::move(segment));
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo,
                                            uint32_t rank, HcclComm *comm) {
  if (const HcclResult code = enter(__func__)) return code;
  return join_by_info(__func__, nRanks, rootInfo, rank, nullptr, comm);
}

CANN_EXPORT HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo,
                                                  uint32_t rank, const HcclCommConfig *config,
                                                  HcclComm *comm) {
  if (const HcclResult code = enter(__func__)) return code;
  if (const HcclResult code = check_config(__func__, config)) return code;
  return join_by_info(__func__, nRanks, rootInfo, rank, config, comm);
}

namespace {

HcclResult no_tables(const char *symbol) {
  return refused(HCCL_E_NOT_SUPPORT, symbol,
                 "the simulator reads no rank tables: use HcclGetRootInfo and HcclCommInitRootInfo");
}

}  // namespace

CANN_EXPORT HcclResult HcclCommInitClusterInfo(const char *, uint32_t, HcclComm *) {
  if (const HcclResult code = enter(__func__)) return code;
  return no_tables(__func__);
}

CANN_EXPORT HcclResult HcclCommInitClusterInfoConfig(const char *, uint32_t, HcclCommConfig *,
                                                     HcclComm *) {
  if (const HcclResult code = enter(__func__)) return code;
  return no_tables(__func__);
}

CANN_EXPORT HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms) {
  if (const HcclResult code = enter(__func__)) return code;
  if (devices == nullptr || comms == nullptr) {
    return refused(HCCL_E_PTR, __func__, "a pointer is NULL");
  }
  if (ndev == 0 || ndev > MOST_RANKS) {
    return refused(HCCL_E_PARA, __func__, std::to_string(ndev) + " devices");
  }
  Address address;
  auto segment = Segment::create(address);
  if (!segment || !segment->size_to(ndev)) return HCCL_E_SYSCALL;
  std::vector<std::shared_ptr<Communicator>> made;
  for (uint32_t r = 0; r < ndev; ++r) {
    int device = 0;
    if (physical_device(__func__, devices[r], device) != 0) return HCCL_E_PARA;
    made.push_back(std::make_shared<Communicator>(segment, r, device, name_of(*segment, nullptr)));
    if (const HcclResult code = made.back()->sit(__func__)) return code;
  }
  if (const HcclResult code = made[0]->await_all(__func__)) return code;
  for (uint32_t r = 0; r < ndev; ++r) {
    comms[r] = communicators().add(made[r]);
    sim::made("communicator");
  }
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                               uint64_t subCommId, uint32_t subCommRankId,
                                               HcclCommConfig *config, HcclComm *subComm) {
  if (const HcclResult code = enter(__func__)) return code;
  if (comm == nullptr || subComm == nullptr) {
    return refused(HCCL_E_PTR, __func__, "a pointer is NULL");
  }
  std::shared_ptr<Communicator> whole;
  if (const HcclResult code = find(__func__, *comm, whole)) return code;
  if (rankIds == nullptr) {  // this rank is in no part
    *subComm = nullptr;
    return HCCL_SUCCESS;
  }
  if (const HcclResult code = check_config(__func__, config)) return code;
  bool inside = rankNum > 0 && subCommRankId < rankNum && rankIds[subCommRankId] == whole->rank;
  for (uint32_t i = 0; inside && i < rankNum; ++i) {
    inside = rankIds[i] < whole->size;
    for (uint32_t j = 0; inside && j < i; ++j) inside = rankIds[i] != rankIds[j];
  }
  if (!inside) {
    return refused(HCCL_E_PARA, __func__, "rank " + std::to_string(whole->rank) +
                                              " is not at place " + std::to_string(subCommRankId) +
                                              " of the ranks, or these are not the whole's");
  }
  std::shared_ptr<Segment> segment;
  if (const HcclResult code = part_of(__func__, *whole, rankIds[0], subCommId, segment)) return code;
  return join(__func__, std::move(segment), rankNum, subCommRankId, config, subComm);
}

CANN_EXPORT HcclResult HcclCommDestroy(HcclComm comm) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  if (!found->leave()) {
    report("communicator-in-use", "HcclCommDestroy: operations of " + found->name +
                                      " are queued: synchronise their streams before");
  }
  if (communicators().take(comm)) gone("communicator");
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  if (rankSize == nullptr) return refused(HCCL_E_PTR, __func__, "rankSize is NULL");
  *rankSize = found->size;
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  if (rank == nullptr) return refused(HCCL_E_PTR, __func__, "rank is NULL");
  *rank = found->rank;
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclGetCommName(HcclComm comm, char *commName) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  if (commName == nullptr) return refused(HCCL_E_PTR, __func__, "commName is NULL");
  std::memset(commName, 0, NAME);
  std::memcpy(commName, found->name.data(), found->name.size());
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  if (asyncError == nullptr) return refused(HCCL_E_PTR, __func__, "asyncError is NULL");
  *asyncError = found->error();
  return HCCL_SUCCESS;
}

CANN_EXPORT HcclResult HcclCommSuspend(HcclComm comm) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  return found->suspend();
}

CANN_EXPORT HcclResult HcclCommResume(HcclComm comm) {
  if (const HcclResult code = enter(__func__)) return code;
  std::shared_ptr<Communicator> found;
  if (const HcclResult code = find(__func__, comm, found)) return code;
  return found->resume(__func__);
}

}  // namespace sim::hccl
