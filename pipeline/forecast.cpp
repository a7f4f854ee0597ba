// What a run would take, without running it: the plan, the disk, and the time from a step on random data.
#include <algorithm>
#include <chrono>

#include "base/philox.h"
#include "net/operation.h"
#include "pipeline/cases.h"
#include "pipeline/run.h"
#include "pipeline/session.h"

namespace voxswap {

namespace {

// The faster of two steps: the first also pays for pages touched for the first time.
double measure_step(Session& session, const RunOptions& options, const Shape& input) {
  session.initialize(options.training.seed);
  const Philox random(options.training.seed, 0xf0e);
  std::vector<float> image(static_cast<std::size_t>(input.count()));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = 2 * random.uniform(i) - 1;
  const std::vector<std::uint8_t> target(image.size() / static_cast<std::size_t>(input[-1]), 1);
  double best = 0;
  for (std::int64_t step = 1; step <= 2; ++step) {
    StepReport report;
    session.train(image, target, {options.training.seed, step, 0}, &report);
    best = step == 1 ? report.seconds : std::min(best, report.seconds);
  }
  return best;
}

}  // namespace

Forecast forecast(const RunOptions& options, bool measure) {
  const Dataset dataset = open_dataset(options.data);
  const Split split = make_split(dataset, options.split);
  const auto channels = static_cast<std::int64_t>(dataset.modalities.size());
  const auto outputs = static_cast<std::int64_t>(output_classes(dataset, options.training.targets).size());
  Session session(options, channels, outputs, Session::Purpose::training);

  Forecast forecast;
  forecast.plan = session.plan();
  forecast.plan_text = plan_text(session.graph(), session.plan());
  forecast.plan_json = plan_json(session.graph(), session.plan());
  forecast.device = session.backend().description();
  forecast.precision = element_name(session.precision());
  forecast.parameters = parameter_count(session.graph());
  forecast.free_bytes = session.backend().free_bytes();
  forecast.arena_bytes = session.arena_bytes();
  forecast.cases_training = static_cast<std::int64_t>(split.training.size());
  forecast.cases_validation = static_cast<std::int64_t>(split.validation.size());
  const Size3& side = options.preprocess.resolution;
  const std::int64_t voxels = side[0] * side[1] * side[2];
  forecast.cache_bytes = options.cache.empty()
                             ? 0
                             : voxels * (4 * channels + 2) * static_cast<std::int64_t>(dataset.cases.size());
  // last holds weights and two moments, best the weights; a label map packs to about a tenth of its voxels.
  forecast.output_bytes =
      options.training.repeats * (4 * 4 * forecast.parameters + forecast.cases_validation * voxels / 10);
  for (const Node& node : session.graph().nodes()) forecast.step_flops += node_flops(session.graph(), node);
  if (measure) {
    forecast.measured_step_seconds = measure_step(
        session, options, Shape{options.training.batch_size, side[2], side[1], side[0], channels});
  }
  return forecast;
}

}  // namespace voxswap
