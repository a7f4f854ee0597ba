// Commands: a plan's instructions, prepared for the executor before the first step; and the timing of a step.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Measured times of a step.
struct StepReport {
  double seconds = 0;          // wall time of the step
  double compute_seconds = 0;  // of kernels, including gaps between consecutive ones
  double stall_seconds = 0;    // during which the compute stream waited for a copy
  double busy_seconds[lane_count] = {};
  // Per instruction, in seconds from the start of the step; empty if not measured.
  std::vector<double> begin, end;
};

// Whether a step measures the start and end of each instruction. On a GPU that costs two events each, and
// kernels cannot be enqueued in groups.
enum class Detail { instructions, lanes };

// Kernels of a plan that are enqueued together. A device that can record work
// (net/backends/backend.h) takes a whole group in one call, which costs the host less than one call
// per kernel.
//
// A group is a run of consecutive kernels on the compute lane. Only its first kernel waits for other lanes,
// and other lanes wait only for its last. A kernel that reads the step number or the learning rate is not
// recorded, because these change, and forms a group of its own.
struct LaunchGroup {
  std::vector<std::size_t> instructions;  // in order
  bool repeats = true;                    // the same arguments in every step
  // Consecutive groups without waits for other lanes form a segment, which is timed as one.
  bool begins_segment = false, ends_segment = false;
};

std::vector<LaunchGroup> launch_groups(const net::Graph& graph, const Plan& plan);

// Per instruction: whether another one waits for it.
std::vector<bool> waited_for(const Plan& plan);

bool recording_wanted();  // unless VOXSWAP_GRAPHS is 0

// A group of kernels and its recording.
struct RecordedGroup : LaunchGroup {
  std::unique_ptr<net::Recording> recording = nullptr;  // from the second step on
  bool enqueued_before = false;
  bool one_by_one = false;  // never recorded
};

// An instruction, ready to be enqueued.
struct StepCommand {
  Lane lane = Lane::compute;
  net::Kernel* kernel = nullptr;  // null: a copy
  net::KernelArguments arguments;
  void* to = nullptr;
  const void* from = nullptr;
  // For a streamed input instead: the address of its bytes in this step, and the offset of the first byte
  // copied.
  const std::byte* const* lent = nullptr;
  std::int64_t lent_begin = 0;
  std::int64_t bytes = 0;
  std::vector<net::Event*> waits;
  std::unique_ptr<net::Event> begun, done;  // timed
  std::unique_ptr<net::Event> ready;        // on which others wait; null: none does
  std::size_t number = 0;                   // number of a copy on its slow link

  const void* source() const { return lent == nullptr ? from : *lent + lent_begin; }
};

// Fills the report, except the wall time, from the events of a finished step; kernels in groups by segments.
void read_times(const net::Backend& backend, const net::Event& started,
                const std::vector<StepCommand>& commands, const std::vector<RecordedGroup>& groups,
                bool in_groups, StepReport& report);

}  // namespace voxswap::swap
