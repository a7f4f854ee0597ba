#include "pipeline/plan/largest.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "net/backends/device_features.h"
#include "net/networks/network.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

// The sizes that are tried: the experiment with a number in the dimension's place.
struct Sizes {
  std::int64_t first = 1, start = 1, last = 1;  // start: the experiment's own
  data::Size3 unit{};                           // resolution
  std::int64_t planes = 0;                      // whatever the resolution; 0: as many as the unit says
  Dimension dimension{};

  RunOptions at(std::int64_t factor, RunOptions options) const {
    if (dimension == Dimension::batch) options.training.batch_size = factor;
    if (dimension == Dimension::depth) options.network.depth = factor;
    if (dimension == Dimension::resolution) options.preprocess.resolution = size(factor);
    return options;
  }
  std::string text(std::int64_t factor) const {
    if (dimension != Dimension::resolution) return std::to_string(factor);
    return resolution_text(size(factor));
  }
  // Of images there is one plane.
  data::Size3 size(std::int64_t factor) const {
    return {factor * unit[0], factor * unit[1], planes > 0 ? planes : factor * unit[2]};
  }
};

Sizes resolutions(const RunOptions& options) {
  const data::Size3& size = options.preprocess.resolution;
  const bool images = net::takes_images(options.network.name);
  const std::int64_t sides = std::gcd(size[0], size[1]);
  const net::Along multiples = net::side_multiples(options.network);
  std::int64_t fitting = 0;  // volumes of the same proportions that the network takes
  for (std::size_t axis = 0; axis < 3; ++axis) fitting = std::gcd(fitting, size[axis] / multiples[axis]);
  // Feature maps are down to a 32nd of an image's sides; what lies between is not worth the search.
  const std::int64_t common = !images ? fitting : sides % 32 == 0 ? sides / 32 : sides;
  Sizes sizes;
  sizes.dimension = Dimension::resolution;
  for (std::size_t axis = 0; axis < 3; ++axis) sizes.unit[axis] = size[axis] / common;
  if (images) sizes.planes = size[2];
  sizes.start = common;
  sizes.last = std::max<std::int64_t>(65536 / *std::max_element(sizes.unit.begin(), sizes.unit.end()), 1);
  return sizes;
}

Sizes depths(const RunOptions& options) {
  const net::NetworkOptions& given = options.network;
  const auto [of_network, most] = net::network_depths(given.name);
  // Levels of which something is said are there.
  const std::size_t said =
      std::max({given.kernels.size(), given.strides.size(),
                given.deep_supervision.empty() ? std::size_t{0} : given.deep_supervision.size() + 1});
  const std::int64_t least = std::max(of_network, static_cast<std::int64_t>(said));
  Sizes sizes;
  sizes.dimension = Dimension::depth;
  sizes.first = sizes.last = least;
  sizes.start = options.network.depth;
  const data::Size3 size = input_size(options);
  for (std::int64_t depth = least; depth <= most; ++depth) {
    net::NetworkOptions network = options.network;
    network.depth = depth;
    const net::Along multiples = net::side_multiples(network);
    if (size[0] % multiples[0] != 0 || size[1] % multiples[1] != 0 || size[2] % multiples[2] != 0) break;
    sizes.last = depth;
  }
  return sizes;
}

Sizes sizes_of(const RunOptions& options, Dimension dimension) {
  if (dimension == Dimension::resolution) return resolutions(options);
  if (dimension == Dimension::depth) return depths(options);
  Sizes sizes;
  sizes.dimension = Dimension::batch;
  sizes.start = options.training.batch_size;
  // A larger one adds nothing but its images, and to plan it takes long; but where a batch is taken at once.
  const std::int64_t most = net::takes_batch_at_once(options.network.name) ? 4096 : 128;
  sizes.last = std::max(most, sizes.start);
  return sizes;
}

}  // namespace

Largest find_largest(const RunOptions& options, const DataShape& data, const std::string& as,
                     Dimension dimension) {
  if (options.training.patch && dimension == Dimension::resolution)
    fail(
        Exit::usage,
        "{} is set: what is trained on has its size whatever {} is; for the largest whole volume set {}=none",
        key::training_patch, key::preprocess_resolution, key::training_patch);
  const Sizes sizes = sizes_of(options, dimension);
  Largest result;
  result.dimension = dimension;
  result.unit = sizes.text(1);
  std::int64_t good = sizes.first - 1, bad = sizes.last + 1;  // fits; does not
  bool tunes = false;
  const auto fits = [&](std::int64_t factor, bool tuned = false) {
    try {
      const StepForecast step(sizes.at(factor, options), data, {.estimate = true, .tuned = tuned, .as = as});
      tunes = dynamic_cast<const net::TuningBackend*>(step.target().backend.get()) != nullptr;
      swap::Plan plan = step.plan(options.memory.planner, /*quick=*/true);
      step.inference_peak(/*quick=*/true);
      log::info("{} fits", sizes.text(factor));
      result.plan = std::move(plan);
      good = factor;
      return true;
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
      log::info("{} does not fit", sizes.text(factor));
      result.limit = error.what();
      bad = factor;
      return false;
    }
  };
  // Twice as large until it does not fit, then in the middle.
  for (std::int64_t next = sizes.start; next < bad && fits(next);)
    next = good == sizes.last ? bad : std::min(2 * good, sizes.last);
  while (bad - good > 1) fits(good + (bad - good) / 2);
  // Routines that are chosen by their time may need other workspaces than those of the search, where timing
  // them at every size would have taken minutes.
  while (tunes && good >= sizes.first && !fits(good, /*tuned=*/true)) good = bad - 1;
  result.factor = good < sizes.first ? 0 : good;
  if (result.factor > 0) result.size = sizes.text(good);
  if (bad <= sizes.last) result.next = sizes.text(bad);
  return result;
}

}  // namespace voxswap::pipeline
