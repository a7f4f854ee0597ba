// The training used by the benchmarks: isensee2017 (batch 1, 4 channels, 3 labels, base 16, depth 5) from its
// initial weights, on one random image with striped labels. The image is written before every step, as in
// real training.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "base/float16.h"
#include "base/philox.h"
#include "net/backends/backends.h"
#include "net/networks/network.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "swap/execute/executor.h"

namespace voxswap::bench {

// Removes a leading `--network FILTERS,DEPTH` from the arguments: another network size, for quick trials.
inline net::NetworkOptions take_network(int& count, char**& arguments) {
  net::NetworkOptions network;
  long long filters = 0, depth = 0;
  if (count > 2 && std::string_view(arguments[1]) == "--network" &&
      std::sscanf(arguments[2], "%lld,%lld", &filters, &depth) == 2) {
    network.base_filters = filters;
    network.depth = depth;
    count -= 2;
    arguments += 2;
  }
  return network;
}

class RandomTraining {
 public:
  // `options`: which device, and how it chooses routines.
  RandomTraining(std::int64_t side, const std::string& precision, const std::string& backend_name = "onednn",
                 const net::BackendOptions& options = {}, const net::NetworkOptions& network = {})
      : backend(net::make_backend(backend_name, options)),
        step(make_step(side, precision, network, *backend)),
        compiled(*backend, step.graph) {
    const Philox random(1, 2);
    const std::int64_t voxels = side * side * side, stored = step.graph.value(step.input[0]).shape[4];
    image_.resize(static_cast<std::size_t>(stored * voxels));  // zeros after the four channels
    for (std::int64_t i = 0; i < 4 * voxels; ++i)
      image_[static_cast<std::size_t>(i / 4 * stored + i % 4)] =
          2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
    target_.resize(static_cast<std::size_t>(voxels));
    for (std::size_t i = 0; i < target_.size(); ++i)
      target_[i] = static_cast<std::uint8_t>(1u << (i / 64 % 4) & 7u);
    if (step.graph.value(step.input[0]).type == net::ElementType::bf16) {
      half_.resize(image_.size());
      std::transform(image_.begin(), image_.end(), half_.begin(), to_bfloat16);
    }
  }

  void write_weights(swap::Executor& executor) const {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const auto values = net::initial_value(step.graph, step.parameters[i], i, 1);
      executor.write(step.parameters[i], values.data(), step.graph.value(step.parameters[i]).bytes());
    }
    for (const net::ValueId id : step.optimizer_state) {
      const std::vector<float> zeros(static_cast<std::size_t>(step.graph.value(id).shape.count()));
      executor.write(id, zeros.data(), step.graph.value(id).bytes());
    }
  }

  // Runs step `number`, counted from 1. The report's seconds are those of the step alone.
  const swap::StepReport& train(swap::Executor& executor, std::int64_t number,
                                swap::Detail detail = swap::Detail::instructions) const {
    if (half_.empty())
      executor.write(step.input[0], image_.data(),
                     static_cast<std::int64_t>(image_.size() * sizeof image_[0]));
    else
      executor.write(step.input[0], half_.data(), static_cast<std::int64_t>(half_.size() * sizeof half_[0]));
    executor.write(step.target[0], target_.data(), static_cast<std::int64_t>(target_.size()));
    return executor.run({1, number, 5e-4}, detail);
  }

  std::unique_ptr<net::Backend> backend;
  net::TrainingStep step;
  swap::CompiledGraph compiled;

 private:
  static net::TrainingStep make_step(std::int64_t side, const std::string& precision,
                                     const net::NetworkOptions& network, const net::Backend& backend) {
    net::StepOptions options;
    options.network = network;
    options.input = Shape{1, side, side, side, 4};
    options.voxel_alignment = backend.voxel_alignment();
    options.activations = net::parse_element_type(precision);
    net::TrainingStep made = net::build_training_step(options);
    net::suit(backend, made.graph);
    return made;
  }

  std::vector<float> image_;
  std::vector<std::uint16_t> half_;
  std::vector<std::uint8_t> target_;
};

}  // namespace voxswap::bench
