// Executes a plan: kernels compiled once, one arena, one host pool, one scratch file, a stream per lane, and
// no allocation and no host synchronisation inside a step.
#pragma once

#include <cstddef>
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
  double to_host_rate = 0, to_device_rate = 0;  // bytes/s: simulate a slower link; 0: full speed
  bool serial = false;                          // run instructions one by one on one stream, to measure each
};

class Executor {
 public:
  // Throws Exit::failed for a plan that does not verify. REQUIRES: tiers at least as large as the plan's
  // peaks.
  Executor(CompiledGraph& compiled, Plan plan, Tiers tiers, ExecutorOptions options = {});
  ~Executor();

  // Write inputs before every step (their memory is reused within it), and persistent values while no step
  // runs. Read kept and persistent values after a step. REQUIRES: the value's size in bytes. In a shared
  // arena a step overwrites the kept values of other executors, but not persistent ones.
  void write(net::ValueId value, const void* bytes, std::int64_t size);
  // Lends the bytes of an input until the step is done, best in memory of Backend::allocate_host(). If the
  // plan streams the input (swap/plan/plan.h), copies read from there.
  void lend(net::ValueId input, const void* bytes, std::int64_t size);
  void read(net::ValueId value, void* bytes, std::int64_t size);
  // The bytes of such a value in place, until the next step. REQUIRES: Backend::computes_on_host().
  const std::byte* view(net::ValueId value) const;
  // Throws the failure of any stream (a copy, the disk) as Error; the executor can then only be destroyed.
  // Calls `meanwhile` when everything is enqueued, before waiting for the step; rethrows its exception after
  // the step.
  const StepReport& run(const net::StepContext& context, Detail detail = Detail::instructions,
                        const std::function<void()>& meanwhile = {});
  const Plan& plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap::swap
