#include "pipeline/plan/several_ranks.h"

#include <cassert>

#include "base/counts.h"
#include "base/error.h"
#include "base/keys.h"
#include "base/units.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "swap/model/simulator.h"

namespace voxswap::pipeline {

namespace {

class PlannedRanks final : public net::Ranks {
 public:
  explicit PlannedRanks(int count) : count_(count) {}
  int rank() const override { return 0; }
  int count() const override { return count_; }
  int on_this_machine() const override { return 1; }  // budgets are each rank's own
  void send(int, const void*, std::int64_t) override { assert(false && "ranks are only planned"); }
  void receive(int, void*, std::int64_t) override { assert(false && "ranks are only planned"); }
  bool has_sent(int) override { return false; }

 private:
  int count_;
};

}  // namespace

void check_share(std::int64_t batch, std::int64_t ranks) {
  if (batch % ranks == 0) return;
  const std::int64_t less = batch / ranks * ranks, more = less + ranks;
  fail(Exit::usage, "{}: {} cannot be divided equally among {}. The nearest possible: {}{}",
       key::training_batch_size, counted(batch, "sample"), counted(ranks, "rank"),
       less > 0 ? format("{} and ", less) : "", more);
}

std::unique_ptr<net::Ranks> planned_ranks(int count) {
  return std::make_unique<PlannedRanks>(count);
}

std::string RanksForecast::limit() const {
  if (exposed_seconds() < 0.001 * step_seconds) return "computing: the exchange is hidden behind it";
  swap::Network instant = network;
  instant.message_seconds = 0;
  const double by_rate = swap::exchange_seconds(exchanged_bytes, instant);
  const std::string what = by_rate > exchange_seconds - by_rate
                               ? network.machines > 1 ? "network bandwidth" : "link bandwidth"
                               : "latency of messages, once per level of the tree";
  return exchange_seconds > alone_seconds
             ? format("{}: the exchange takes longer than computing", what)
             : format("{}: {} of the exchange come after computing", what, format_seconds(exposed_seconds()));
}

RanksForecast forecast_ranks(const StepForecast& step, const Forecast& forecast, const RunOptions& options,
                             const DataShape& data, const ForecastOptions& how) {
  RanksForecast result;
  result.network = *step.target().network;
  const swap::Simulation simulation = swap::simulate(forecast.plan, step.costs());
  result.step_seconds = simulation.seconds;
  result.exchange_seconds = simulation.busy_seconds[static_cast<std::size_t>(swap::Lane::exchange)];
  for (const net::Node& node : step.graph().nodes())
    if (net::is_exchange(node))
      for (const net::ValueId sum : node.outputs) result.exchanged_bytes += step.graph().value(sum).bytes();

  RunOptions alone = options;
  alone.ranks = &net::alone();
  alone.training.batch_size = options.training.batch_size / options.ranks->count();
  ForecastOptions without = how;
  without.network.reset();
  const StepForecast one(alone, data, without);
  result.alone_seconds = swap::simulate(one.plan(options.memory.planner), one.costs()).seconds;
  return result;
}

}  // namespace voxswap::pipeline
