// What is known about a step before it runs: where it is to run, its kernels, what its parts cost, which
// memories it may use; and the plans that follow from that. Sessions run such plans, forecasts only tell
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/backends/backend.h"
#include "pipeline/cases/options.h"
#include "swap/execute/executor.h"
#include "swap/model/bound.h"
#include "swap/model/costs.h"
#include "swap/model/network.h"
#include "swap/plan/plan.h"

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
  std::optional<swap::Network> network{};  // of ranks that train together
  std::string description() const;         // for people
  std::int64_t voxel_alignment() const;    // of images there (net/backends/backend.h)
};
// `as`: one of known_devices(), whether or not it is here, and with as much host memory as is asked for;
// empty: memory.device. `tuned`: it may time routines to choose among them (BackendOptions).
Target open_target(const RunOptions& options, const std::string& as = "", bool tuned = true);

// A step to be planned, on its target.
struct PlannableStep {
  net::Graph graph;
  std::vector<net::ValueId> kept;
  std::unique_ptr<swap::CompiledGraph>
      compiled;  // null on a device that is not here: kernels without workspace
  std::vector<std::int64_t> workspaces;
  std::optional<swap::CostModel> costs;
  // Of a step that takes several samples: the step of one, by which all are planned and measured.
  std::unique_ptr<PlannableStep> one_sample = nullptr;
};
PlannableStep plannable(const Target& target, net::Graph graph, std::vector<net::ValueId> kept,
                        net::Exchange* exchange = nullptr);

// Costs from the target's rates, with memory.link in place of its link (or, where the device is here, as a
// limit of it).
swap::CostModel estimate(const PlannableStep& step, const Target& target, const MemoryOptions& memory);
// Costs measured there within the budgets, or found in `options.cache`, where they are put if they are to be
// remembered. What does not fit at all is told in the
// words of the experiment's planner.
swap::CostModel measure(PlannableStep& step, const Target& target, const RunOptions& options,
                        bool remember = true);

// make_plan() with all that the experiment says. `quick`: less search, to find out what fits.
swap::Plan plan_step(const std::string& planner, const PlannableStep& step, const swap::Budgets& budgets,
                     const MemoryOptions& memory, bool quick = false);
// The plan in which nothing leaves, if it fits: inference gains nothing from another. Needs no costs.
std::optional<swap::Plan> plan_staying(const PlannableStep& step, const swap::Budgets& budgets,
                                       const MemoryOptions& memory);
// The step time that no plan can beat. REQUIRES: costs.
swap::Bound bound_of(const PlannableStep& step, const swap::Budgets& budgets);

// The network's steps for an experiment. The graph of inference holds the optimiser's state too, which no
// node of it reads, so that persistent values lie at the same places in both.
// Of one sample; a training step takes this rank's share of a batch, or the batch at once.
net::StepOptions step_options(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                              const Target& target);
struct Steps {
  std::optional<net::TrainingStep> training;
  std::optional<net::TrainingStep> one_sample;  // where training takes several
  net::InferenceStep inference;                 // of one case; with the loss where there is training
};
Steps build_steps(const RunOptions& options, std::int64_t channels, std::int64_t outputs,
                  const Target& target, bool trains);
// What training keeps in the host's memory beside all plans: a mean of the weights, where it makes one.
std::int64_t held_beside(const RunOptions& options, const Steps& steps);
// The budgets of which nobody says how large they are become smaller by that.
void leave_room(Target& target, const MemoryOptions& memory, std::int64_t bytes);
std::vector<net::ValueId> kept_values(const net::InferenceStep& step);
// Of these steps, which have one for training.
PlannableStep plannable_training(const Target& target, const Steps& steps, net::Exchange& exchange);

}  // namespace voxswap::pipeline
