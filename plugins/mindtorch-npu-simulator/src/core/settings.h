// What the environment says about the simulated machine; read once, when the library is first used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct Settings {
  std::vector<int> devices;  // the visible ones: the index is the program's id, the value physical
  uint64_t memory = 0;       // bytes of each device
  std::string soc;           // what aclrtGetSocName says
  std::string log;           // a file that gets every event as a line, none if empty
  bool strict = false;       // a finding ends the process
};

const Settings &settings();

// Limits of the processor that `settings().soc` names.
struct Processor {
  size_t streams = 0;
  size_t events = 0;
  bool hbm = false;
  int64_t cube_cores = 0;
  int64_t vector_cores = 0;
  int64_t cache_bytes = 0;
};

const Processor &processor();

}  // namespace sim
