// Failures and delays that somebody asked for, by the environment or through the control functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sim {

// Rules separated by commas: "SYMBOL:N=CODE" (the N-th call from now on; `*` = every call) and
// "kernel:NAME:N=CODE" (the N-th task of that name fails on its stream). `*` as SYMBOL or NAME
// means any. Gives a text that says what is wrong, empty if the rules were taken.
std::string inject(std::string_view rules);
void clear_faults();
std::string faults_json();

// Delays in microseconds, separated by commas: "50" (each task of each stream), "SYMBOL=20" (each
// call), "kernel:NAME=100" (each task of that name). Replaces what was set; empty: none.
std::string set_latency(std::string_view delays);

// The code for this call of a symbol, or this run of a task; 0 if none.
int32_t fault_of_call(std::string_view symbol);
int32_t fault_of_task(std::string_view name);

// How long this call, or this task, should take in addition.
uint64_t delay_of_call(std::string_view symbol);
uint64_t delay_of_task(std::string_view name);

}  // namespace sim
