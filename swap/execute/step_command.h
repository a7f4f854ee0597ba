// The executor's form of a plan's instructions, prepared before the first step, and how a step is timed.
#pragma once

#include <memory>
#include <vector>

#include "net/backends/device_features.h"
#include "swap/execute/launches.h"
#include "swap/execute/step_report.h"

namespace voxswap::swap {

// Kernels that are enqueued together, and what was recorded of them.
struct RecordedGroup : LaunchGroup {
  std::unique_ptr<net::Recording> recording = nullptr;  // from the second step on
  bool enqueued_before = false;
  bool one_by_one = false;  // never recorded
};

// An instruction with all that its enqueuing needs.
struct StepCommand {
  Lane lane = Lane::compute;
  net::Kernel* kernel = nullptr;  // null: a copy
  net::KernelArguments arguments;
  void* to = nullptr;
  const void* from = nullptr;
  // Instead, of an input that streams: where its bytes lie in this step, and the first of them.
  const std::byte* const* lent = nullptr;
  std::int64_t lent_begin = 0;
  std::int64_t bytes = 0;
  std::vector<net::Event*> waits;
  std::unique_ptr<net::Event> begun, done;  // timed
  std::unique_ptr<net::Event> ready;        // what others wait for; null: nobody does
  std::size_t number = 0;                   // of a copy on its slow link

  const void* source() const { return lent == nullptr ? from : *lent + lent_begin; }
};

// Fills the report from the events of a step that is done; of kernels that were enqueued in groups, by
// stretches. The wall time is not touched.
void read_times(const net::Backend& backend, const net::Event& started,
                const std::vector<StepCommand>& commands, const std::vector<RecordedGroup>& groups,
                bool in_groups, StepReport& report);

}  // namespace voxswap::swap
