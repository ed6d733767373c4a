#include "hccl/segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <random>
#include <set>

#include "core/core.h"

#ifndef F_OFD_SETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#endif

namespace sim::hccl {
namespace {

constexpr uint64_t MAGIC = 0x6c6363682d6d6973;  // "sim-hccl"
constexpr uint64_t LINE = 64;
constexpr int REST_MS = 5;

uint64_t rounded(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

// A forked child is no rank: it must not keep those of its parent alive.
struct Descriptors {
  std::mutex lock;
  std::set<int> open;

  Descriptors() {
    pthread_atfork(nullptr, nullptr, [] {
      for (const int each : instance().open) ::close(each);
    });
  }
  static Descriptors &instance() {
    static Descriptors &value = *new Descriptors;
    return value;
  }
};

uint64_t token_of_new() {
  std::random_device source;
  return (uint64_t{source()} << 32) | source();
}

struct flock byte_of(uint32_t rank, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

}  // namespace

struct Segment::Header {
  uint64_t magic;
  uint64_t token;
  std::atomic<uint32_t> bell;
  std::atomic<uint32_t> ranks;
  std::atomic<uint32_t> failed;  // 0 no, 1 being written, 2 written
  HcclResult code;
  char text[1024];
};

Segment::Segment(int descriptor) : descriptor_(descriptor) {
  Descriptors &d = Descriptors::instance();
  const std::lock_guard<std::mutex> hold(d.lock);
  d.open.insert(descriptor);
}

Segment::~Segment() {
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
  Descriptors &d = Descriptors::instance();
  const std::lock_guard<std::mutex> hold(d.lock);
  d.open.erase(descriptor_);
  ::close(descriptor_);
}

bool Segment::map(uint64_t bytes) {
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
  void *at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  memory_ = at == MAP_FAILED ? nullptr : static_cast<char *>(at);
  mapped_ = bytes;
  return memory_ != nullptr;
}

Segment::Header &Segment::header() const { return *reinterpret_cast<Header *>(memory_); }

std::shared_ptr<Segment> Segment::create(Address &address) {
  const int descriptor = ::memfd_create("npu-simulator-hccl", MFD_CLOEXEC);
  std::shared_ptr<Segment> made(descriptor < 0 ? nullptr : new Segment(descriptor));
  if (!made || ::ftruncate(descriptor, 4096) != 0 || !made->map(4096)) {
    sim::fail(HCCL_E_SYSCALL, std::string("no shared memory: ") + std::strerror(errno));
    return nullptr;
  }
  made->header().magic = MAGIC;
  made->header().token = token_of_new();
  address = {MAGIC, made->header().token, static_cast<int32_t>(::getpid()), descriptor};
  return made;
}

std::shared_ptr<Segment> Segment::open(const Address &address, HcclResult &code) {
  code = HCCL_E_TCP_CONNECT;
  if (address.magic != MAGIC) {
    sim::fail(code, "the root info is not one that HcclGetRootInfo has written");
    return nullptr;
  }
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor >= 0) {
    std::shared_ptr<Segment> made(new Segment(descriptor));
    if (made->map(4096) && made->header().magic == MAGIC && made->token() == address.token) {
      code = HCCL_SUCCESS;
      return made;
    }
  }
  const std::string maker = "process " + std::to_string(address.pid);
  if (::kill(address.pid, 0) == 0 || errno == EPERM) {
    code = HCCL_E_PARA;
    sim::fail(code, "all ranks of the root info that " + maker + " has made have joined");
  } else {
    sim::fail(code, maker + ", which has made the root info, is gone");
  }
  return nullptr;
}

// ---- layout: header, seats, mailboxes, numbers, windows of messages, windows ---------------------

namespace {

struct Layout {
  uint64_t seats, mailboxes, numbers, message_windows, windows, bytes;

  explicit Layout(uint64_t n) {
    seats = 4096;
    mailboxes = rounded(seats + n * (sizeof(Seat) + LINE));
    numbers = rounded(mailboxes + n * n * sizeof(Mailbox));
    message_windows = rounded(numbers + n * 2 * 2 * n * sizeof(uint64_t));
    windows = message_windows + n * n * MESSAGE_WINDOW;
    bytes = windows + n * 2 * WINDOW;
  }
};

}  // namespace

bool Segment::size_to(uint32_t ranks) {
  uint32_t none = 0;
  header().ranks.compare_exchange_strong(none, ranks);
  if (header().ranks != ranks) return false;
  const Layout layout(ranks);
  // All ranks do so: growing to a size that it has changes nothing.
  if (::ftruncate(descriptor_, static_cast<off_t>(layout.bytes)) != 0) return false;
  ranks_ = ranks;
  return map(layout.bytes);
}

Seat &Segment::seat(uint32_t rank) const {
  const uint64_t each = (sizeof(Seat) + LINE - 1) / LINE * LINE;
  return *reinterpret_cast<Seat *>(memory_ + Layout(ranks_).seats + rank * each);
}

Mailbox &Segment::mailbox(uint32_t from, uint32_t to) const {
  const uint64_t place = uint64_t{from} * ranks_ + to;
  return reinterpret_cast<Mailbox *>(memory_ + Layout(ranks_).mailboxes)[place];
}

uint64_t *Segment::numbers(uint32_t rank, uint64_t call) const {
  const uint64_t row = (uint64_t{rank} * 2 + call % 2) * 2 * ranks_;
  return reinterpret_cast<uint64_t *>(memory_ + Layout(ranks_).numbers) + row;
}

char *Segment::message_window(uint32_t from, uint32_t to) const {
  const uint64_t place = uint64_t{from} * ranks_ + to;
  return memory_ + Layout(ranks_).message_windows + place * MESSAGE_WINDOW;
}

char *Segment::window(uint32_t rank, uint64_t round) const {
  return memory_ + Layout(ranks_).windows + (uint64_t{rank} * 2 + round % 2) * WINDOW;
}

// ---- who is there ----------------------------------------------------------------------------------

bool Segment::hold(uint32_t rank) {
  struct flock lock = byte_of(rank, F_WRLCK);
  return ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
}

bool Segment::alive(uint32_t rank) const {
  struct flock lock = byte_of(rank, F_WRLCK);
  if (::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0) return true;
  if (lock.l_type != F_UNLCK) return true;
  // One's own locks are not told: several ranks may share this object.
  return seat(rank).taken == static_cast<uint32_t>(::getpid());
}

// ---- waiting ---------------------------------------------------------------------------------------

uint32_t Segment::bell() const { return header().bell.load(); }

void Segment::ring() const {
  header().bell.fetch_add(1);
  ::syscall(SYS_futex, &header().bell, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void Segment::rest(uint32_t before) const {
  const struct timespec limit = {0, REST_MS * 1000000L};
  ::syscall(SYS_futex, &header().bell, FUTEX_WAIT, before, &limit, nullptr, 0);
}

// ---- failure ---------------------------------------------------------------------------------------

void Segment::fail(HcclResult code, const std::string &text) {
  Header &h = header();
  uint32_t none = 0;
  if (!h.failed.compare_exchange_strong(none, 1)) return;
  h.code = code;
  const size_t length = std::min(text.size(), sizeof h.text - 1);
  std::memcpy(h.text, text.data(), length);
  h.text[length] = '\0';
  h.failed = 2;
  ring();
}

HcclResult Segment::failure(std::string &text) const {
  const Header &h = header();
  if (h.failed != 2) return HCCL_SUCCESS;
  text = h.text;
  return h.code;
}

void Segment::mend() { header().failed = 0; }

uint64_t Segment::token() const { return header().token; }

}  // namespace sim::hccl
