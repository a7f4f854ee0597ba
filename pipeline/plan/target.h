// The device on which steps run, and its memory budgets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/ranks.h"
#include "pipeline/cases/experiment.h"
#include "swap/model/costs.h"
#include "swap/model/needs.h"

namespace voxswap::pipeline {

// Opens the backend for memory.device; throws Exit::does_not_fit if this build or machine lacks the device.
// `auto` is the first GPU, or the CPU if no GPU can be used.
std::unique_ptr<net::Backend> open_device(const std::string& device, const net::BackendOptions& options = {});
net::BackendOptions backend_options(const TrainingOptions& training);
net::ElementType choose_precision(const net::Backend& backend, Precision precision);

// The experiment's budgets; `auto` is resolved from free memory. If the device computes in host memory,
// budget and host pool together never exceed free memory unless the experiment sets them so. Free memory is
// divided among `sharers` processes.
swap::Budgets choose_budgets(const net::Backend& backend, const MemoryOptions& memory, int sharers = 1);

// Free memory available to steps: less a reserve of a tenth, at least half a GiB, for prepared volumes, label
// maps and libraries.
std::int64_t without_reserve(std::int64_t free);
// choose_budgets() for a device that computes in host memory, of which `usable` bytes are available.
swap::Budgets budgets_in_one_memory(std::int64_t usable, const MemoryOptions& memory);

// The device for which a step is planned.
struct Target {
  std::unique_ptr<net::Backend> backend;     // null: not in this machine
  const swap::DeviceRates* rates = nullptr;  // for estimates
  net::ElementType precision = net::ElementType::f32;
  swap::Budgets budgets{};
  std::int64_t left_free = 0;              // device memory for samples, if a plan does with the rest
  std::optional<swap::Network> network{};  // between ranks that train together
  std::string description() const;         // for display
  bool has_own_memory() const;             // apart from the host's
  std::int64_t voxel_alignment() const;    // of images on the device (net/backends/backend.h)
  bool sums_in_blocks(net::ElementType type) const;  // see net/backends/backend.h
};
// `as`: one of known_devices(), which need not exist here, assumed with 256 GiB of host memory unless
// memory.host is set; empty: memory.device. `tuned`: the backend may time routines to choose among them
// (BackendOptions). GPUs and host memory of a machine are divided among its `ranks`.
Target open_target(const Experiment& experiment, const std::string& as = "", bool tuned = true,
                   const net::Ranks& ranks = net::alone());

// Host memory for prepared cases (data.memory): what is free, less a reserve, and not planned for these
// steps, or what the experiment sets; divided among `sharers` processes. REQUIRES: the planned memory is not
// allocated yet.
std::int64_t memory_for_cases(const Target& target, const Experiment& experiment, std::int64_t device_bytes,
                              std::int64_t host_bytes, int sharers);

// Sets left_free to what samples of training take, unless that is much of the budget.
void leave_samples_free(Target& target, const Experiment& experiment, std::int64_t channels);

// Reduces the budget whose size the experiment leaves open by `bytes`.
void leave_room(Target& target, const MemoryOptions& memory, std::int64_t bytes);

}  // namespace voxswap::pipeline
