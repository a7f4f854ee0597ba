#include "pipeline/plan/largest.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "net/backends/backend.h"
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

// Sizes that were planned, each once.
class LargestSearch {
 public:
  LargestSearch(const RunOptions& options, const DataShape& data, const std::string& as, Dimension dimension,
                std::optional<std::int64_t> host, const Largest* hint)
      : options_(options), data_(data), as_(as), host_(host), sizes_(sizes_of(options, dimension)) {
    if (host) options_.memory.host_bytes = host;
    result_.dimension = dimension;
    result_.unit = sizes_.text(1);
    good_ = sizes_.first - 1;
    bad_ = sizes_.last + 1;
    if (hint != nullptr) sizes_.start = hint->factor;
  }

  Largest run(const Largest* hint) {
    // Larger until it does not fit, then in the middle: twice as large, or from where half the memory led to
    // by a quarter, about what twice the memory adds to a side.
    for (std::int64_t next = sizes_.start; next < bad_ && fits(next);)
      next = good_ == sizes_.last ? bad_ : std::min(hint ? good_ + good_ / 4 + 1 : 2 * good_, sizes_.last);
    while (bad_ - good_ > 1) fits(good_ + (bad_ - good_) / 2);
    // Routines that are chosen by their time may need other workspaces than those of the search, where timing
    // them at every size would have taken minutes.
    while (tunes_ && good_ >= sizes_.first && !fits(good_, /*tuned=*/true)) good_ = bad_ - 1;
    if (bad_ <= sizes_.last) result_.next = sizes_.text(bad_);
    if (good_ < sizes_.first) return result_;
    result_.factor = good_;
    result_.size = sizes_.text(good_);
    result_.compute_seconds = tried_.at(good_).compute_seconds;
    for (const double times : most_times) {
      std::int64_t likely = 0;
      for (std::size_t i = 0; hint != nullptr && i < hint->swift.size(); ++i)
        if (hint->swift[i].times == times) likely = hint->swift[i].factor;
      result_.swift.push_back(swift(times, likely));
    }
    return result_;
  }

 private:
  struct Tried {
    double step_seconds = 0, compute_seconds = 0;
  };

  // Images and results that are streamed lie beside the host pool: what a machine has must hold both.
  swap::Plan plan(const StepForecast& step, std::int64_t factor) {
    swap::Plan plan = step.plan(options_.memory.planner, /*quick=*/true);
    if (!host_ || plan.host_bytes + plan.streamed_bytes <= *host_) return plan;
    RunOptions less = sizes_.at(factor, options_);
    less.memory.host_bytes = std::max<std::int64_t>(*host_ - plan.streamed_bytes, 0);
    return StepForecast(less, data_, {.estimate = true, .as = as_})
        .plan(options_.memory.planner, /*quick=*/true);
  }

  bool fits(std::int64_t factor, bool tuned = false) {
    try {
      const StepForecast step(sizes_.at(factor, options_), data_,
                              {.estimate = true, .tuned = tuned, .as = as_});
      tunes_ = dynamic_cast<const net::TuningBackend*>(step.target().backend.get()) != nullptr;
      result_.host_bytes = step.budgets().host;
      swap::Plan found = plan(step, factor);
      step.inference_peak(/*quick=*/true);
      log::info("{} fits", sizes_.text(factor));
      tried_[factor] = {found.predicted_seconds, step.compute_seconds()};
      if (factor < good_) return true;
      result_.plan = std::move(found);
      good_ = factor;
      return true;
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
      log::info("{} does not fit", sizes_.text(factor));
      result_.limit = error.what();
      bad_ = factor;
      return false;
    }
  }

  bool takes_at_most(double times, std::int64_t factor) {
    if (!tried_.contains(factor)) fits(factor);
    const auto found = tried_.find(factor);
    return found != tried_.end() && found->second.step_seconds <= times * found->second.compute_seconds;
  }

  // `likely`: what it may well be; 0: nobody knows.
  // REQUIRES: good_ fits.
  Largest::Swift swift(double times, std::int64_t likely) {
    std::int64_t yes = sizes_.first - 1, no = good_ + 1;
    const auto look_at = [&](std::int64_t factor) {
      if (factor > yes && factor < no) (takes_at_most(times, factor) ? yes : no) = factor;
    };
    look_at(good_);
    look_at(likely);
    look_at(likely + 1);
    const std::map<std::int64_t, Tried> tried = tried_;
    for (const auto& [factor, what] : tried) look_at(factor);
    while (no - yes > 1) look_at(yes + (no - yes) / 2);
    Largest::Swift result;
    result.times = times;
    if (yes < sizes_.first) return result;
    result.factor = yes;
    result.size = sizes_.text(yes);
    result.step_seconds = tried_.at(yes).step_seconds;
    return result;
  }

  RunOptions options_;
  const DataShape& data_;
  const std::string& as_;
  const std::optional<std::int64_t> host_;  // memory of a host that is assumed
  Sizes sizes_;
  std::int64_t good_ = 0, bad_ = 0;  // fits; does not
  bool tunes_ = false;
  std::map<std::int64_t, Tried> tried_;
  Largest result_;
};

}  // namespace

std::vector<Largest> find_largest(const RunOptions& options, const DataShape& data, const std::string& as,
                                  Dimension dimension) {
  if (options.training.patch && dimension == Dimension::resolution)
    fail(Exit::usage,
         "{} is set, so the size of a sample does not depend on {}. For the largest whole volume set {}=none",
         key::training_patch, key::preprocess_resolution, key::training_patch);
  if (as.empty() || options.memory.host_bytes)
    return {LargestSearch(options, data, as, dimension, std::nullopt, nullptr).run(nullptr)};
  std::vector<Largest> all;
  for (const std::int64_t gibibytes : {32, 64, 128, 256}) {
    const Largest* const hint = all.empty() || all.back().factor == 0 ? nullptr : &all.back();
    Largest next = LargestSearch(options, data, as, dimension, gibibytes << 30, hint).run(hint);
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace voxswap::pipeline
