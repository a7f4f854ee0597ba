// One training step of isensee2017 (batch 1, 4 channels, 3 labels, base 16, depth 5) on random data: median
// seconds and peak resident memory of this process, as one line of JSON. compare_training_step.py runs it
// beside PyTorch.
//
//   training_step SIDE f32|bf16 STEPS
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/philox.h"
#include "net/operation.h"
#include "net/step.h"
#include "swap/executor.h"
#include "swap/planner.h"

namespace voxswap {
namespace {

std::int64_t peak_resident_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

void measure(std::int64_t side, const std::string& precision, int steps) {
  const std::int64_t resident_before = peak_resident_bytes();
  const auto backend = make_backend("onednn");
  StepOptions options;
  options.input = Shape{1, side, side, side, 4};
  options.activations = parse_element_type(precision);
  const TrainingStep step = build_training_step(options);
  CompiledGraph compiled(*backend, step.graph);
  PlanRequest request;
  request.graph = &compiled.graph();
  request.workspaces = compiled.workspaces();
  request.kept = {step.loss};
  const Plan plan = make_plan("keep", request);
  std::shared_ptr<Memory> arena = backend->allocate(plan.peak_bytes);
  Executor executor(compiled, plan, Tiers{arena, nullptr, nullptr});

  for (std::size_t i = 0; i < step.parameters.size(); ++i) {
    const auto values = initial_value(step.graph, step.parameters[i], i, 1);
    executor.write(step.parameters[i], values.data(), step.graph.value(step.parameters[i]).bytes());
  }
  for (ValueId id : step.optimizer_state) {
    const std::vector<float> zeros(static_cast<std::size_t>(step.graph.value(id).shape.count()));
    executor.write(id, zeros.data(), step.graph.value(id).bytes());
  }
  const Philox random(1, 2);
  const std::int64_t voxels = side * side * side;
  std::vector<float> image(static_cast<std::size_t>(4 * voxels));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = 2 * random.uniform(i) - 1;
  std::vector<std::uint8_t> target(static_cast<std::size_t>(voxels));
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = static_cast<std::uint8_t>(1u << (i / 64 % 4) & 7u);
  if (options.activations == ElementType::bf16) {
    std::vector<std::uint16_t> half(image.size());
    std::transform(image.begin(), image.end(), half.begin(), to_bfloat16);
    executor.write(step.input, half.data(), static_cast<std::int64_t>(half.size() * 2));
  } else {
    executor.write(step.input, image.data(), static_cast<std::int64_t>(image.size() * 4));
  }
  executor.write(step.target, target.data(), static_cast<std::int64_t>(target.size()));

  std::vector<double> seconds;
  for (int i = 0; i <= steps; ++i) {  // the first is a warm-up
    const double taken = executor.run({1, i + 1, 5e-4}).seconds;
    if (i > 0) seconds.push_back(taken);
  }
  std::sort(seconds.begin(), seconds.end());
  double flops = 0;
  for (const Node& node : compiled.graph().nodes()) flops += node_flops(compiled.graph(), node);
  float loss = 0;
  executor.read(step.loss, &loss, sizeof loss);
  std::printf(
      "{\"side\": %lld, \"precision\": \"%s\", \"seconds\": %.6f, \"peak_bytes\": %lld, \"before_bytes\": "
      "%lld, "
      "\"arena_bytes\": %lld, \"gflop\": %.3f, \"loss\": %.6f, \"backend\": \"%s\"}\n",
      static_cast<long long>(side), precision.c_str(), seconds[seconds.size() / 2],
      static_cast<long long>(peak_resident_bytes()), static_cast<long long>(resident_before),
      static_cast<long long>(plan.peak_bytes), flops / 1e9, static_cast<double>(loss),
      backend->description().c_str());
}

}  // namespace
}  // namespace voxswap

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: training_step SIDE f32|bf16 STEPS\n");
    return 2;
  }
  try {
    voxswap::measure(std::atoll(arguments[1]), arguments[2], std::max(1, std::atoi(arguments[3])));
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
