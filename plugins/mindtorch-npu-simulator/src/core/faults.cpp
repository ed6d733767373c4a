#include "core/faults.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <vector>

#include "core/json.h"

namespace sim {
namespace {

constexpr std::string_view KERNEL = "kernel:";

struct Rule {
  bool task = false;
  std::string name;
  uint64_t nth = 0;  // 0: every one
  int32_t code = 0;
  uint64_t seen = 0;
  uint64_t fired = 0;
};

struct Delay {
  bool task = false;
  std::string name;
  uint64_t us = 0;
};

struct Faults {
  std::mutex lock;
  std::vector<Rule> rules;
  std::vector<Delay> delays;
  std::atomic<bool> any{false};  // spares the lock on the usual path

  Faults();
  void count() { any = !rules.empty() || !delays.empty(); }
};

Faults &faults() {
  static Faults &value = *new Faults;
  return value;
}

std::vector<std::string_view> pieces(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    result.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return result;
}

std::optional<uint64_t> number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

bool take_prefix(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Rule> rule(std::string_view text) {
  Rule result;
  result.task = take_prefix(text, KERNEL);
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto code = number(text.substr(equals + 1));
  const std::string_view call = text.substr(0, equals);
  const size_t colon = call.rfind(':');
  if (!code || *code == 0 || colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view which = call.substr(colon + 1);
  const auto nth = which == "*" ? std::optional<uint64_t>(0) : number(which);
  if (!nth || (*nth == 0 && which != "*")) return std::nullopt;
  result.name = call.substr(0, colon);
  result.nth = *nth;
  result.code = static_cast<int32_t>(*code);
  return result;
}

std::optional<Delay> delay(std::string_view text) {
  Delay result;
  const size_t equals = text.rfind('=');
  const bool everywhere = equals == std::string_view::npos;
  const auto us = number(everywhere ? text : text.substr(equals + 1));
  if (!us) return std::nullopt;
  result.us = *us;
  result.task = everywhere || take_prefix(text, KERNEL);
  result.name = everywhere ? "*" : std::string(text.substr(0, text.rfind('=')));
  if (result.name.empty()) return std::nullopt;
  return result;
}

bool matches(const std::string &pattern, std::string_view name) {
  return pattern == "*" || pattern == name;
}

int32_t fault_of(bool task, std::string_view name) {
  Faults &f = faults();
  if (!f.any.load(std::memory_order_relaxed)) return 0;
  const std::lock_guard<std::mutex> hold(f.lock);
  for (Rule &r : f.rules) {
    if (r.task != task || !matches(r.name, name)) continue;
    ++r.seen;
    if (r.nth != 0 && r.seen != r.nth) continue;
    ++r.fired;
    return r.code;
  }
  return 0;
}

uint64_t delay_of(bool task, std::string_view name) {
  Faults &f = faults();
  if (!f.any.load(std::memory_order_relaxed)) return 0;
  const std::lock_guard<std::mutex> hold(f.lock);
  uint64_t us = 0;
  for (const Delay &d : f.delays) {
    if (d.task == task && matches(d.name, name)) us += d.us;
  }
  return us;
}

std::string wrong(std::string_view text, const char *expected) {
  return "'" + std::string(text) + "' is not understood: expected " + expected;
}

std::string parse_rules(std::string_view text, std::vector<Rule> &result) {
  for (const std::string_view piece : pieces(text)) {
    const auto parsed = rule(piece);
    if (!parsed) return wrong(piece, "SYMBOL:N=CODE or kernel:NAME:N=CODE, N a number or *");
    result.push_back(*parsed);
  }
  return "";
}

std::string parse_delays(std::string_view text, std::vector<Delay> &result) {
  for (const std::string_view piece : pieces(text)) {
    const auto parsed = delay(piece);
    if (!parsed) {
      return wrong(piece, "MICROSECONDS, SYMBOL=MICROSECONDS or kernel:NAME=MICROSECONDS");
    }
    result.push_back(*parsed);
  }
  return "";
}

Faults::Faults() {
  const char *wanted = std::getenv("NPU_SIMULATOR_FAULTS");
  const char *latency = std::getenv("NPU_SIMULATOR_LATENCY_US");
  std::string problem = parse_rules(wanted != nullptr ? wanted : "", rules);
  if (!problem.empty()) std::cerr << "npu-simulator: NPU_SIMULATOR_FAULTS: " << problem << '\n';
  problem = parse_delays(latency != nullptr ? latency : "", delays);
  if (!problem.empty()) std::cerr << "npu-simulator: NPU_SIMULATOR_LATENCY_US: " << problem << '\n';
  count();
}

}  // namespace

std::string inject(std::string_view rules) {
  std::vector<Rule> parsed;
  std::string problem = parse_rules(rules, parsed);
  if (!problem.empty()) return problem;
  Faults &f = faults();
  const std::lock_guard<std::mutex> hold(f.lock);
  f.rules.insert(f.rules.end(), parsed.begin(), parsed.end());
  f.count();
  return "";
}

void clear_faults() {
  Faults &f = faults();
  const std::lock_guard<std::mutex> hold(f.lock);
  f.rules.clear();
  f.count();
}

std::string faults_json() {
  Faults &f = faults();
  const std::lock_guard<std::mutex> hold(f.lock);
  std::string out = "[";
  for (const Rule &r : f.rules) {
    if (out.size() > 1) out += ',';
    out += "{" + member("name", quoted((r.task ? std::string(KERNEL) : "") + r.name)) + "," +
           member("nth", std::to_string(r.nth)) + "," + member("code", std::to_string(r.code)) +
           "," + member("seen", std::to_string(r.seen)) + "," +
           member("fired", std::to_string(r.fired)) + "}";
  }
  return out + "]";
}

std::string set_latency(std::string_view delays) {
  std::vector<Delay> parsed;
  std::string problem = parse_delays(delays, parsed);
  if (!problem.empty()) return problem;
  Faults &f = faults();
  const std::lock_guard<std::mutex> hold(f.lock);
  f.delays = parsed;
  f.count();
  return "";
}

int32_t fault_of_call(std::string_view symbol) { return fault_of(false, symbol); }
int32_t fault_of_task(std::string_view name) { return fault_of(true, name); }
uint64_t delay_of_call(std::string_view symbol) { return delay_of(false, symbol); }
uint64_t delay_of_task(std::string_view name) { return delay_of(true, name); }

}  // namespace sim
