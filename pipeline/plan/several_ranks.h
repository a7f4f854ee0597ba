// What a training step takes on several ranks, which need not be here (docs/ranks.md).
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "net/collective/ranks.h"
#include "pipeline/plan/forecast.h"
#include "swap/model/network.h"

namespace voxswap::pipeline {

// Throws Exit::usage, naming the nearest batches that can be, when ranks cannot share one out equally.
void check_share(std::int64_t batch, std::int64_t ranks);

// The first of so many ranks, for planning: there is nobody to talk to.
std::unique_ptr<net::Ranks> planned_ranks(int count);

struct RanksForecast {
  swap::Network network;
  double step_seconds = 0;
  double alone_seconds = 0;     // of a rank by itself that has as many samples
  double exchange_seconds = 0;  // of the step, during which ranks exchange gradients
  std::int64_t exchanged_bytes = 0;

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
