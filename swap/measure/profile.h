// Measures a cost model on the device, within the budget.
#pragma once

#include <cstdint>
#include <memory>

#include "base/file.h"
#include "swap/execute/executor.h"
#include "swap/model/costs.h"

namespace voxswap::swap {

struct ProfileRequest {
  std::vector<net::ValueId> kept;
  std::int64_t budget_bytes = unlimited, host_budget_bytes = 0;  // of the measured steps
  bool host_as_asked = false;                                    // of allocate_tiers()
  fs::path disk_folder;                                          // empty: no disk tier to measure
  std::int64_t disk_budget_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // simulated link: upper limit of measured rates; 0: none
  fs::path cache;                               // folder of measurements; empty: none
  bool remember = true;                         // store new measurements there
  // Cached costs that steps have disproved: they are measured again.
  const CostModel* disproved = nullptr;
  int steps = 3;  // number of steps for the medians of node times; fewer if they are long
};

// Measures copies without kernels; then steps, one instruction at a time, under a plan within the budget,
// with initial weights and random inputs; then steps with concurrent copies. Takes about two seconds and five
// steps. The result is cached under a key of device, graph (operations, shapes, element types), scratch
// folder and format version. A repeated measurement replaces the old one if it is not noisy; otherwise the
// faster one is kept, because other programs only slow kernels down.
CostModel measure_costs(CompiledGraph& compiled, const ProfileRequest& request);

// Makes the next call of measure_costs() measure.
void forget_costs(CompiledGraph& compiled, const ProfileRequest& request);

// Measures only copy rates, in both directions, and of the disk if a folder is given: for `voxswap info`.
CostModel measure_links(net::Backend& backend, const fs::path& disk_folder);

}  // namespace voxswap::swap
