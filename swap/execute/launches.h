// Which kernels of a plan are enqueued together: a device that can record what is enqueued
// (device_features.h) takes a whole group in one go, which costs the host less than one kernel after the
// other.
//
// A group is a run of kernels that follow one another on the compute lane. Only its first waits for other
// lanes, and only its last is waited for by them, so that nothing between its first and its last matters to
// anybody else. A kernel that reads the step's number or learning rate would be recorded with those of one
// step: it is by itself.
#pragma once

#include <cstddef>
#include <vector>

#include "swap/plan/plan.h"

namespace voxswap::swap {

struct LaunchGroup {
  std::vector<std::size_t> instructions;  // in order
  bool repeats = true;                    // the same in every step
  // Groups that follow one another without waiting for another lane are a stretch, whose time is taken as
  // one.
  bool begins_stretch = false, ends_stretch = false;
};

std::vector<LaunchGroup> launch_groups(const net::Graph& graph, const Plan& plan);

// Of every instruction, whether another waits for it.
std::vector<bool> waited_for(const Plan& plan);

bool recording_wanted();  // unless VOXSWAP_GRAPHS is 0

}  // namespace voxswap::swap
