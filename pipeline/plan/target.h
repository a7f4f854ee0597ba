// The device for the steps, and the memories that they may use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/backends/backend.h"
#include "pipeline/cases/options.h"
#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::pipeline {

// The backend for memory.device; Exit::does_not_fit for a device that this build or machine has not got.
// `auto` is the first GPU, or the CPU where there is none that can be used.
std::unique_ptr<net::Backend> open_device(const std::string& device, const net::BackendOptions& options = {});
net::BackendOptions backend_options(const TrainingOptions& training);
net::ElementType choose_precision(const net::Backend& backend, Precision precision);

// The budgets of the experiment, with `auto` resolved by what is free. Where the device computes in the
// host's memory, budget and host pool come out of the same: together they are never given more than is free,
// unless the experiment itself asks for it. What is free is shared with `sharers` that ask as well.
swap::Budgets choose_budgets(const net::Backend& backend, const MemoryOptions& memory, int sharers = 1);

// What steps may take of free memory: less a reserve for prepared volumes, label maps and the libraries, a
// tenth, at least half a GiB.
std::int64_t without_reserve(std::int64_t free);
// choose_budgets() where the device computes in the host's memory and may take `usable` bytes of it.
swap::Budgets budgets_in_one_memory(std::int64_t usable, const MemoryOptions& memory);

// Where a step is planned for.
struct Target {
  std::unique_ptr<net::Backend> backend;     // null: a device that is not here
  const swap::DeviceRates* rates = nullptr;  // what estimates are made from
  net::ElementType precision = net::ElementType::f32;
  swap::Budgets budgets{};
  std::string smaller;                               // the key that makes a step smaller, for messages
  std::optional<swap::Network> network{};            // of ranks that train together
  std::string description() const;                   // for people
  std::int64_t voxel_alignment() const;              // of images there (net/backends/backend.h)
  bool sums_in_blocks(net::ElementType type) const;  // the same
};
// `as`: one of known_devices(), whether or not it is here, and with 256 GiB of host memory unless
// memory.host says otherwise; empty: memory.device. `tuned`: it may time routines to choose among them
// (BackendOptions).
Target open_target(const RunOptions& options, const std::string& as = "", bool tuned = true);

// The budgets of which nobody says how large they are become smaller by that.
void leave_room(Target& target, const MemoryOptions& memory, std::int64_t bytes);

}  // namespace voxswap::pipeline
