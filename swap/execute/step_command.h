// The executor's form of a plan's instructions, prepared before the first step, and how a step is timed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

// Times of a step.
struct StepReport {
  double seconds = 0;          // wall time of the step
  double compute_seconds = 0;  // during which kernels ran, or followed one another at once
  double stall_seconds = 0;    // during which the compute stream waited for a copy
  double busy_seconds[lane_count] = {};
  // Per instruction, in seconds from the step's begin; empty where they were not asked for and not known.
  std::vector<double> begin, end;
};

// Whether a step notes when each instruction begins and ends. That costs a device with streams of its own two
// events for each, and keeps it from taking kernels in groups.
enum class Detail { instructions, lanes };

// Which kernels of a plan are enqueued together: a device that can record what is enqueued
// (device_features.h) takes a whole group in one go, which costs the host less than one kernel after the
// other.
//
// A group is a run of kernels that follow one another on the compute lane. Only its first waits for other
// lanes, and only its last is waited for by them, so that nothing between its first and its last matters to
// anybody else. A kernel that reads the step's number or learning rate would be recorded with those of one
// step: it is by itself.
struct LaunchGroup {
  std::vector<std::size_t> instructions;  // in order
  bool repeats = true;                    // the same in every step
  // Groups that follow one another without waiting for another lane are a segment, whose time is taken as
  // one.
  bool begins_segment = false, ends_segment = false;
};

std::vector<LaunchGroup> launch_groups(const net::Graph& graph, const Plan& plan);

// Of every instruction, whether another waits for it.
std::vector<bool> waited_for(const Plan& plan);

bool recording_wanted();  // unless VOXSWAP_GRAPHS is 0

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
// segments. The wall time is not touched.
void read_times(const net::Backend& backend, const net::Event& started,
                const std::vector<StepCommand>& commands, const std::vector<RecordedGroup>& groups,
                bool in_groups, StepReport& report);

}  // namespace voxswap::swap
