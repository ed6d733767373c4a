#include "core/settings.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "core/core.h"

namespace sim {
namespace {

constexpr uint64_t GIB = uint64_t{1} << 30;
constexpr uint64_t MOST_DEVICES = 64;

std::string text_of(const char *variable, const std::string &otherwise) {
  const char *value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

uint64_t number_of(const char *variable, uint64_t otherwise, uint64_t most) {
  const std::string text = text_of(variable, "");
  if (text.empty()) return otherwise;
  char *end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0' || text[0] == '-' || value > most) {
    std::cerr << "npu-simulator: " << variable << "='" << text << "' is no number from 0 to "
              << most << "; using " << otherwise << '\n';
    return otherwise;
  }
  return value;
}

// CANN's rule: a comma list in ascending order; reading stops at the first entry that is not valid.
std::vector<int> visible(int count) {
  std::vector<int> devices;
  const char *list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr) {
    for (int i = 0; i < count; ++i) devices.push_back(i);
    return devices;
  }
  std::istringstream entries(list);
  std::string entry;
  while (std::getline(entries, entry, ',')) {
    char *end = nullptr;
    const long id = std::strtol(entry.c_str(), &end, 10);
    const bool valid = !entry.empty() && *end == '\0' && id >= 0 && id < count;
    if (!valid || (!devices.empty() && id <= devices.back())) break;
    devices.push_back(static_cast<int>(id));
  }
  return devices;
}

// Two, or one for each process of this machine where a launcher has said how many there are:
// collectives want a device for each.
uint64_t usual_devices() {
  for (const char *variable : {"LOCAL_WORLD_SIZE", "WORLD_SIZE"}) {
    const uint64_t wanted = std::strtoull(text_of(variable, "0").c_str(), nullptr, 10);
    if (wanted > 0) return std::max<uint64_t>(2, std::min(wanted, MOST_DEVICES));
  }
  return 2;
}

Settings read() {
  Settings result;
  const uint64_t count = number_of("NPU_SIMULATOR_DEVICES", usual_devices(), MOST_DEVICES);
  result.devices = visible(static_cast<int>(count));
  result.memory = number_of("NPU_SIMULATOR_MEMORY", 4 * GIB, 96 * GIB);
  result.soc = text_of("NPU_SIMULATOR_SOC", "Ascend910B3");
  result.log = text_of("NPU_SIMULATOR_LOG", "");
  result.strict = text_of("NPU_SIMULATOR_STRICT", "0") != "0";
  return result;
}

bool starts(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

// The plain name "Ascend910B" is one of the 910A generation.
Processor known(const std::string &soc) {
  if (starts(soc, "Ascend310P")) return {1024, 1023, false, 8, 7, 16 << 20};
  if (starts(soc, "Ascend310")) return {512, 65536, false, 1, 1, 4 << 20};
  const bool first = soc == "Ascend910B" || starts(soc, "Ascend910A") ||
                     starts(soc, "Ascend910Pr") || starts(soc, "Ascend910Premium");
  if (first) return {2048, 65535, true, 32, 32, 32 << 20};
  return {1984, 65536, true, 20, 40, 192 << 20};
}

}  // namespace

const Settings &settings() {
  static const Settings &value = *new Settings(read());
  return value;
}

const std::string &processor_name() { return settings().soc; }

const Processor &processor() {
  static const Processor &value = *new Processor(known(settings().soc));
  return value;
}

}  // namespace sim
