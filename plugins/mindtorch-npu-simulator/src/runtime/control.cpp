// Functions that CANN has not: they steer and question the simulator. Texts are JSON unless said
// otherwise and stay valid until the thread's next call of any of these functions.
#include <cstdint>
#include <string>

#include "core/calls.h"
#include "core/core.h"
#include "core/faults.h"
#include "core/gate.h"
#include "core/journal.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/settings.h"
#include "core/stream.h"
#include "core/watch.h"

namespace sim {
namespace {

const char *lasting(std::string text) {
  thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

// A problem as a plain text, nullptr if there is none.
const char *problem(std::string text) {
  return text.empty() ? nullptr : lasting(std::move(text));
}

const char *text_or_empty(const char *text) { return text == nullptr ? "" : text; }

}  // namespace

// Add rules (core/faults.h). A plain text says what is wrong with them; nullptr if they were taken.
CANN_EXPORT const char *simInject(const char *rules) {
  return problem(inject(text_or_empty(rules)));
}

CANN_EXPORT void simClearFaults() { clear_faults(); }

CANN_EXPORT const char *simFaults() { return lasting(faults_json()); }

CANN_EXPORT const char *simLatency(const char *delays) {
  return problem(set_latency(text_or_empty(delays)));
}

// Hold tasks back (core/gate.h), or let them go.
CANN_EXPORT void simHold(const char *names) { hold_tasks(text_or_empty(names)); }

CANN_EXPORT const char *simFindings(int32_t clear) { return lasting(findings_json(clear != 0)); }

CANN_EXPORT const char *simLog(int32_t clear) { return lasting(journal_json(clear != 0)); }

CANN_EXPORT const char *simCounters() {
  const Totals t = totals();
  return lasting("{" + member("calls", calls_json()) + "," +
                 member("launches", std::to_string(t.launches)) + "," +
                 member("copies", std::to_string(t.copies)) + "," +
                 member("synchronizations", std::to_string(t.synchronizations)) + "," +
                 member("objects", objects_json()) + "," + member("memory", memory_json()) + "," +
                 member("findings", std::to_string(finding_count())) + "}");
}

// Forget findings, log, counts of calls and totals, drop faults and latencies, and let go of what is
// held. Live objects and memory limits stay.
CANN_EXPORT void simReset() {
  clear_faults();
  set_latency("");
  hold_tasks("");
  clear_findings();
  clear_journal();
  clear_calls();
  clear_totals();
}

// The limit of a physical device, or of all visible ones (-1).
CANN_EXPORT void simSetMemoryLimit(int32_t device, uint64_t bytes) {
  if (device >= 0) {
    set_limit(device, bytes);
    return;
  }
  for (const int each : settings().devices) set_limit(each, bytes);
}

}  // namespace sim
