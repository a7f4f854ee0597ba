// Executes a plan: kernels compiled once, one arena, one host pool, one scratch file, a stream per lane, and
// no allocation and no host synchronisation inside a step.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "swap/execute/resolved_step.h"
#include "swap/execute/step_command.h"
#include "swap/execute/tiers.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

struct ExecutorOptions {
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s: a slower link is imitated; 0: as fast as it is
  bool serial = false;  // one instruction after the other on one stream: for measuring each by itself
};

class Executor {
 public:
  // Refuses (assert-like Error, Exit::failed) a plan that does not verify. REQUIRES: tiers at least as large
  // as the plan's peaks.
  Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions options = {});
  ~Executor();

  // Inputs are written before every step (their places are used again within it), persistent values whenever
  // no step runs; kept and persistent values are read after it. REQUIRES: of the value's size in bytes. With
  // a shared arena a step destroys what the other executors keep, persistent values excepted.
  void write(net::ValueId value, const void* bytes, std::int64_t size);
  // An input whose bytes stay until the step is done, best in memory of Backend::allocate_host(): where the
  // plan streams it (swap/plan/plan.h), it is read from there.
  void lend(net::ValueId input, const void* bytes, std::int64_t size);
  void read(net::ValueId value, void* bytes, std::int64_t size);
  // What fails on any stream (a copy, the disk) is thrown here, as Error; the executor can then only be
  // destroyed. `meanwhile` is called when all is enqueued, before the caller waits for the step; what it
  // throws is thrown when the step is done.
  const StepReport& run(const net::StepContext& context, Detail detail = Detail::instructions,
                        const std::function<void()>& meanwhile = {});
  const Plan& plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::swap
