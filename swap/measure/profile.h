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
  std::int64_t budget_bytes = unlimited, host_budget_bytes = 0;  // of the steps that are run for measuring
  bool host_as_asked = false;                                    // of allocate_tiers()
  fs::path disk_folder;                                          // empty: no disk tier to measure
  std::int64_t disk_budget_bytes = 0;
  double to_host_rate = 0, to_device_rate = 0;  // imitated: cap what was measured; 0: not
  fs::path cache;                               // folder of earlier measurements; empty: none
  bool remember = true;                         // put new ones there
  // Costs that steps have disproved: they are measured again, whatever the cache has.
  const CostModel* disproved = nullptr;
  int steps = 3;  // node times are the median of so many; fewer if they are long
};

// Copies alone; then runs steps one instruction after the other, under a plan that is within the budget, on
// weights as at the start of a training and random inputs; then steps beside copies that go to and fro. Takes
// about two seconds and five steps. Kept in `cache` under a key of device, graph (operations, shapes, element
// types), scratch folder and version of the format; a second call reads it. Of two measurements the new one
// counts if it is not noisy, otherwise the faster one: other programs only slow kernels down.
CostModel measure_costs(CompiledGraph& compiled, const ProfileRequest& request);

// The next call of measure_costs() measures.
void forget_costs(CompiledGraph& compiled, const ProfileRequest& request);

// Copy rates alone, in both directions, and of the disk if a folder is given: for `voxswap info`.
CostModel measure_links(net::Backend& backend, const fs::path& disk_folder);

}  // namespace voxswap::swap
