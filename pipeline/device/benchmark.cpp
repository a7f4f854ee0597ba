#include "pipeline/device/benchmark.h"

#include <algorithm>
#include <ctime>

#include "base/interrupt.h"
#include "base/philox.h"
#include "base/progress.h"
#include "net/graph/graph.h"
#include "net/networks/networks.h"
#include "net/steps/slabs.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "pipeline/device/session.h"
#include "swap/plan/plan_report.h"

namespace voxswap::pipeline {

namespace {

struct RandomBatch {
  std::vector<float> images;
  std::vector<std::uint8_t> targets;
};

// The samples of this rank: voxels in [-1, 1] and random target bits or, low byte first, classes.
RandomBatch random_batch(const Experiment& experiment, const RankGroups& ranks, const DataShape& data) {
  const Size3 side = input_size(experiment);
  const std::int64_t samples = experiment.training.batch_size / ranks.replicas();
  const auto voxels = static_cast<std::size_t>(samples * voxels_in(side));
  const Philox random(experiment.training.seed, 0xf0e);
  RandomBatch batch;
  batch.images.resize(voxels * static_cast<std::size_t>(data.channels));
  for (std::size_t i = 0; i < batch.images.size(); ++i) batch.images[i] = 2 * random.uniform(i) - 1;
  const std::size_t count =
      net::classifies_images(experiment.network.name) ? static_cast<std::size_t>(samples) : voxels;
  const net::LossOptions loss = loss_of(experiment.training);
  const bool classes = loss.classes;
  const auto bytes = static_cast<std::size_t>(net::target_bytes(data.outputs, loss));
  const std::int64_t bits = std::min<std::int64_t>(data.outputs, 8);
  const auto values = static_cast<std::uint32_t>(classes ? data.outputs : std::int64_t{1} << bits);
  batch.targets.resize(count * bytes);
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    const std::uint32_t value = random.word(classes ? i / bytes : i) % values;
    batch.targets[i] = static_cast<std::uint8_t>(value >> (classes ? 8 * (i % bytes) : 0));
  }
  return batch;
}

}  // namespace

Benchmark benchmark(const Experiment& experiment, const RankGroups& ranks, const DataShape& data,
                    std::int64_t steps, bool with_epoch) {
  check_ranks(experiment, ranks);
  Session session(experiment, {ranks}, {data.channels, data.outputs}, Session::Purpose::training);
  session.initialize(experiment.training.seed);
  const RandomBatch batch = random_batch(experiment, ranks, data);
  Benchmark result;
  swap::StepReport report;
  Progress progress("bench", "steps", steps + 1);
  for (std::int64_t step = 1; step <= steps + 1; ++step) {
    throw_if_interrupted();
    const net::StepContext context{experiment.training.seed, step,
                                   experiment.training.optimizer.learning_rate};
    const std::clock_t before = std::clock();
    session.give(batch.images, batch.targets);
    session.train(context, &report);
    if (step > 1) {
      result.steps.add(report);
      result.cpu_seconds += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    }
    progress.advance();
  }
  result.cpu_seconds /= static_cast<double>(steps);
  if (report.begin
          .empty()) {  // record instructions in an extra step, so that the measured steps are not slowed down
    session.give(batch.images, batch.targets);
    session.train({experiment.training.seed, steps + 2, experiment.training.optimizer.learning_rate}, &report,
                  swap::Detail::instructions);
  }
  result.device = session.backend().description();
  result.precision = net::element_name(session.precision());
  result.costs = session.costs().source;
  result.slabs = net::slabs_text(session.graph());
  result.plan = session.plan();
  result.bound = session.bound();
  result.step_seconds = metrics::box_statistics(result.steps.seconds);
  const swap::PlanTotals moved = swap::totals(result.plan);
  result.megavoxels_per_second = megavoxels_per_step(experiment) / result.step_seconds.median;
  for (const net::Node& node : session.graph().nodes()) {
    result.step_flops += net::node_flops(session.graph(), node);
    result.step_bytes += static_cast<double>(net::node_bytes(session.graph(), node));
  }
  result.to_host_rate = result.steps.rate(swap::Lane::to_host, moved.out_bytes);
  result.to_device_rate = result.steps.rate(swap::Lane::to_device, moved.in_bytes);
  result.arena_bytes = session.arena_bytes();
  result.host_bytes = session.host_bytes();
  result.plan_json = swap::plan_json(session.graph(), result.plan);
  result.timeline = swap::timeline_json(session.graph(), result.plan, report.begin, report.end);
  if (with_epoch) result.epoch = benchmark_epoch(experiment, session, data, steps);
  return result;
}

void StepStatistics::add(const swap::StepReport& report) {
  seconds.push_back(report.seconds);
  compute_seconds += report.compute_seconds;
  stall_seconds += report.stall_seconds;
  for (std::size_t lane = 0; lane < swap::lane_count; ++lane) busy_seconds[lane] += report.busy_seconds[lane];
}

double StepStatistics::median_seconds() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

bool disproves_costs(double measured, double predicted) {
  return measured * (1 + swap::much_noise) < predicted;
}

bool agrees_with_plan(double measured, double predicted) {
  return !disproves_costs(measured, predicted) && measured <= predicted * (1 + swap::much_noise);
}

double StepStatistics::rate(swap::Lane lane, std::int64_t bytes_per_step) const {
  const double busy = busy_seconds[static_cast<std::size_t>(lane)];
  return busy > 0 ? static_cast<double>(bytes_per_step) * static_cast<double>(seconds.size()) / busy : 0;
}

}  // namespace voxswap::pipeline
