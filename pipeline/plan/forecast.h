// Memory, disk and time of a run, without running it. Nothing is written except measured costs in the cache,
// where allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/collective/ranks.h"
#include "pipeline/cases/options.h"
#include "pipeline/plan/planning.h"
#include "swap/model/costs.h"

namespace voxswap::pipeline {

// What a step needs to know about the data: from the data set, or where data.root is not there, from
// data.modalities and data.labels (or regions). Throws Exit::bad_data when neither tells.
struct DataShape {
  bool found = true;  // the data set is there
  std::int64_t channels = 0, outputs = 0;
  std::int64_t training_cases = 0, validation_cases = 0;
  std::int64_t labelled_slices = 0;              // of the training cases, where the network takes slices
  net::Unknown unknown = net::Unknown::nothing;  // what the truths may leave open
};
DataShape data_shape(const RunOptions& options);
DataShape data_shape(const RunOptions& options, const data::Dataset& dataset);  // of one that is open

struct ForecastOptions {
  bool estimate = false;  // costs from rates, nothing is measured
  bool tuned = false;     // where costs are estimated: routines are chosen by their time nevertheless
  std::string as;         // a known device instead of memory.device: implies estimate
  // Of the ranks of the options, where there are several; the rate within a machine is the device's link's.
  std::optional<swap::Network> network = {};
  bool remember = true;  // write measured costs into the cache
};

// The steps of an experiment on a device, to be planned by one planner or another.
class StepForecast {
 public:
  StepForecast(const RunOptions& options, const DataShape& data, const ForecastOptions& how);

  const net::Graph& graph() const { return training_.graph; }
  const Target& target() const { return target_; }
  const swap::Budgets& budgets() const { return target_.budgets; }
  const swap::CostModel& costs() const { return *training_.costs; }
  // Of the training step; throws Exit::does_not_fit. `quick`: less search, to find out what fits.
  swap::Plan plan(const std::string& planner, bool quick = false) const;
  std::int64_t inference_peak(bool quick = false) const;  // likewise
  std::int64_t held_beside() const { return held_beside_; }
  std::int64_t trained() const { return trained_; }  // of the parameters
  double compute_seconds() const;                    // of the training step in unlimited memory
  swap::Bound bound() const { return bound_of(training_, target_.budgets); }

 private:
  RunOptions options_;
  Target target_;
  std::int64_t held_beside_ = 0, trained_ = 0;
  net::Exchange exchange_;  // never begun
  PlannableStep training_, inference_;
};

// One planner's plan, or why there is none.
struct PlannerRow {
  std::string planner;
  std::optional<swap::Plan> plan;
  std::string why_not;
};
std::vector<PlannerRow> compare_planners(const StepForecast& step);

struct Forecast {
  swap::Plan plan;
  swap::Bound bound;
  swap::Budgets budgets;
  std::string device, precision, costs, pieces;  // for people
  DataShape data;
  std::int64_t parameters = 0, trained = 0;  // numbers; biases in front of norms are never trained
  std::int64_t free_bytes = 0;               // device memory at hand; 0 when the device is not here
  std::int64_t arena_bytes = 0;              // training and validation share it
  std::int64_t held_bytes = 0;               // of the host's memory beside the plan: averaged weights
  std::int64_t cache_bytes = 0;              // prepared volumes on disk
  std::int64_t output_bytes = 0;             // checkpoints and predictions, about
  double step_flops = 0;
};
Forecast forecast(const StepForecast& step, const DataShape& data, const RunOptions& options);

// Of its training part. REQUIRES: the data set is there.
std::int64_t epoch_steps(const Forecast& forecast, const RunOptions& options);
double epoch_seconds(const Forecast& forecast, const RunOptions& options);
// Measured: of augmenting a step's samples on the cores that compute the step, too; 0 on a GPU.
double augmenting_seconds(const RunOptions& options, const DataShape& data);
double megavoxels_per_step(const RunOptions& options);

// What a training step takes on several ranks, which need not be here (docs/explanation/ranks.md).
// Throws Exit::usage when the ranks cannot be divided into groups that share volumes, or, naming the nearest
// batches that can be, when these groups cannot share a batch equally.
void check_ranks(const RunOptions& options);

// One of so many ranks, for planning: there is nobody to talk to. Of the first `slabs`, which share volumes,
// the one in the middle, which has most neighbours.
std::unique_ptr<net::Ranks> planned_ranks(int count, int slabs = 1);

struct RanksForecast {
  swap::Network network;
  double step_seconds = 0;
  double alone_seconds = 0;  // of a rank by itself that has as many samples; of shared ones, its part of the
                             // time in unlimited memory
  double exchange_seconds = 0;  // of the step, during which ranks exchange gradients
  std::int64_t exchanged_bytes = 0;
  std::int64_t halo_bytes = 0;  // that the rank sends: planes of its slabs

  // Sums are rounded: where all is hidden, a step may come out a little shorter.
  double exposed_seconds() const { return std::max(step_seconds - alone_seconds, 0.0); }
  double efficiency() const {  // volumes per second, of the ideal
    return std::min(alone_seconds / step_seconds, 1.0);
  }
  std::string limit() const;  // for people: what keeps it from more
};

// REQUIRES: `step` and `forecast` are of these options, whose ranks are planned, and of `how`, which has
// their network.
RanksForecast forecast_ranks(const StepForecast& step, const Forecast& forecast, const RunOptions& options,
                             const DataShape& data, const ForecastOptions& how);

}  // namespace voxswap::pipeline
