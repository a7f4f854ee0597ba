// Forecasts memory, disk space and time of a run without running it. Writes nothing except, if allowed,
// measured costs to the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/collective/ranks.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/plan/planning.h"
#include "swap/model/costs.h"

namespace voxswap::pipeline {

// The data of a forecast: read from the data set or, if data.root does not exist, from
// data.modalities and data.labels (or regions). Throws Exit::bad_data if neither is given.
struct DataShape : StepData {
  bool found = true;  // the data set exists
  std::int64_t training_cases = 0, validation_cases = 0;
  std::int64_t labelled_slices = 0;  // in the training cases, for training on slices
};
DataShape data_shape(const Experiment& experiment);
DataShape data_shape(const Experiment& experiment, const data::Dataset& dataset);  // data set already open

struct ForecastOptions {
  bool estimate = false;  // estimate costs from rates instead of measuring
  bool tuned = false;     // choose routines by measured time even if costs are estimated
  std::string as;         // a known device instead of memory.device; implies estimate
  RankGroups ranks = {};  // need not exist
  // Network between the ranks, if there are several; within a machine, the rate of the device's link is used.
  std::optional<swap::Network> network = {};
  bool remember = true;  // write measured costs to the cache
};

// The steps of an experiment on a device, ready for planning by different planners.
class StepForecast {
 public:
  StepForecast(const Experiment& experiment, const DataShape& data, const ForecastOptions& how);

  const net::Graph& graph() const { return *training_.graph; }
  const Target& target() const { return target_; }
  const swap::Budgets& budgets() const { return target_.budgets; }
  const swap::CostModel& costs() const { return *training_.costs; }
  // Plans the training step; throws Exit::does_not_fit. `quick`: less search, enough to check what fits.
  swap::Plan plan(const std::string& planner, bool quick = false) const;
  std::int64_t inference_peak(bool quick = false) const;  // also throws Exit::does_not_fit
  std::int64_t averaged_weights_bytes() const { return averaged_weights_bytes_; }
  std::int64_t trained() const { return trained_; }  // number of trained parameters
  double compute_seconds() const;                    // of the training step with unlimited memory
  swap::Bound bound() const { return bound_of(training_.problem); }

 private:
  Experiment experiment_;
  Target target_;
  std::int64_t averaged_weights_bytes_ = 0, trained_ = 0;
  net::Exchange exchange_;  // never connected
  PlannableStep training_, inference_;
};

// A planner's plan, or the reason why there is none.
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
  std::string device, precision, costs, slabs;  // for display
  DataShape data;
  std::int64_t parameters = 0, trained = 0;  // counts; biases before norms are not trained
  std::int64_t free_bytes = 0;               // of the device; 0 if it is not in this machine
  std::int64_t arena_bytes = 0;              // shared by training and validation
  std::int64_t averaged_weights_bytes = 0;   // host memory outside the plan, for averaged weights
  std::int64_t cache_bytes = 0;              // prepared volumes on disk
  std::int64_t case_bytes = 0;               // of a prepared volume
  std::int64_t cases_bytes = 0;              // host memory for prepared volumes
  std::int64_t device_cases_bytes = 0;       // device memory for those of training, if it has its own memory
  std::int64_t output_bytes = 0;             // approximate size of checkpoints and predictions
  double step_flops = 0;
  double forward_seconds = 0;  // of one sample, in training
};
Forecast forecast(const StepForecast& step, const DataShape& data, const Experiment& experiment);

// For the training part. REQUIRES: the data set exists.
std::int64_t epoch_steps(const Forecast& forecast, const Experiment& experiment);
double epoch_seconds(const Forecast& forecast, const Experiment& experiment);
// Of all validation cases, without reading and scoring them.
double validation_seconds(const Forecast& forecast, const Experiment& experiment);
// Measured time to augment a step's samples on the same cores that compute the step; 0 on a GPU.
double augmenting_seconds(const Experiment& experiment, const DataShape& data);
// Estimated time in which a device of these rates makes a step's samples if all changes are drawn.
double sample_seconds(const Experiment& experiment, const DataShape& data, const swap::DeviceRates& device);
double megavoxels_per_step(const Experiment& experiment);

// Training on several ranks, which need not exist (docs/explanation/ranks.md). Throws Exit::usage if ranks
// cannot be divided into groups of slab ranks, or if the batch size is not divisible by the number of groups;
// the message names the nearest valid sizes.
void check_ranks(const Experiment& experiment, const RankGroups& ranks);

// A simulated rank for planning only, without communication. Among the first `slabs` ranks, which share
// volumes, it is the middle one, which has the most neighbours.
std::unique_ptr<net::Ranks> planned_ranks(int count, int slabs = 1);

struct RanksForecast {
  swap::Network network;
  double step_seconds = 0;
  double alone_seconds = 0;  // of a single rank with as many samples; with slab ranks, its share of the time
                             // with unlimited memory
  double exchange_seconds = 0;  // part of the step during which gradients are exchanged
  std::int64_t exchanged_bytes = 0;
  std::int64_t halo_bytes = 0;  // halo planes sent by this rank

  // Clamped at 0: rounding may make a step with fully hidden communication slightly shorter.
  double exposed_seconds() const { return std::max(step_seconds - alone_seconds, 0.0); }
  double efficiency() const {  // relative to ideal scaling of volumes per second
    return std::min(alone_seconds / step_seconds, 1.0);
  }
  std::string limit() const;  // for display: what limits efficiency
};

// REQUIRES: `how` has planned ranks and their network, and `step` and `forecast` were made with both.
RanksForecast forecast_ranks(const StepForecast& step, const Forecast& forecast, const Experiment& experiment,
                             const DataShape& data, const ForecastOptions& how);

}  // namespace voxswap::pipeline
