// The functions of the runtime that the native tests call, and what the tests check with.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/core.h"

extern "C" {
aclError aclInit(const char *configPath);
aclError aclFinalize();
aclError aclrtSetDevice(int32_t deviceId);
aclError aclrtResetDevice(int32_t deviceId);
aclError aclrtSynchronizeDevice();
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtStreamQuery(aclrtStream stream, int32_t *status);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtStreamAbort(aclrtStream stream);
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtQueryEventStatus(aclrtEvent event, int32_t *status);
aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent);
aclError aclrtMalloc(void **devPtr, size_t size, uint32_t policy);
aclError aclrtFree(void *devPtr);
aclError aclrtMallocHost(void **hostPtr, size_t size);
aclError aclrtFreeHost(void *hostPtr);
aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, int32_t kind);
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, int32_t kind,
                          aclrtStream stream);
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtCallback fn, void *args);
const char *aclGetRecentErrMsg();
const char *simInject(const char *rules);
const char *simFindings(int32_t clear);
const char *simCounters();
const char *simLog(int32_t clear);
void simReset();
}

inline void check(bool holds, const char *what, int line) {
  if (holds) return;
  const char *message = aclGetRecentErrMsg();
  std::fprintf(stderr, "line %d: %s does not hold (%s; findings: %s)\n", line, what,
               message != nullptr ? message : "no message", simFindings(0));
  std::exit(1);
}

#define CHECK(condition) check((condition), #condition, __LINE__)
#define OK(call) check((call) == 0, #call, __LINE__)

// A kernel that adds to each number of a block.
inline sim::Task adding(void *block, size_t count, int32_t amount) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const uint64_t bytes = count * sizeof(int32_t);
  return {"adding", {{address, bytes, true}}, [=] {
            auto *numbers = reinterpret_cast<int32_t *>(sim::reach(address, bytes));
            if (numbers == nullptr) return code::RT_AICORE_EXCEPTION;
            for (size_t i = 0; i < count; ++i) numbers[i] += amount;
            return code::SUCCESS;
          }};
}

inline bool no_findings() { return std::strcmp(simFindings(0), "[]") == 0; }
