#include "pipeline/plan/largest.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/units.h"
#include "net/backends/backend.h"
#include "net/networks/network.h"
#include "net/networks/networks.h"
#include "pipeline/cases/patches.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

// The sizes to try: the experiment with its size, batch or depth replaced.
struct Sizes {
  std::int64_t first = 1, start = 1, last = 1;  // start: the experiment's value
  Size3 unit{};                                 // resolution
  std::int64_t planes = 0;                      // fixed depth of images; 0: depth scales with the unit
  Dimension dimension{};

  Experiment at(std::int64_t factor, Experiment experiment) const {
    if (dimension == Dimension::batch) experiment.training.batch_size = factor;
    if (dimension == Dimension::depth) experiment.network.depth = factor;
    if (dimension == Dimension::resolution) experiment.preprocess.resolution = size(factor);
    return experiment;
  }
  std::string text(std::int64_t factor) const {
    if (dimension != Dimension::resolution) return std::to_string(factor);
    return resolution_text(size(factor));
  }
  // Images have a fixed depth.
  Size3 size(std::int64_t factor) const {
    return {factor * unit[0], factor * unit[1], planes > 0 ? planes : factor * unit[2]};
  }
};

Sizes resolutions(const Experiment& experiment) {
  const Size3& size = experiment.preprocess.resolution;
  const bool images = net::takes_images(experiment.network.name);
  const std::int64_t sides = std::gcd(size[0], size[1]);
  const net::Along multiples = net::side_multiples(experiment.network);
  std::int64_t fitting = 0;  // size in units of the network's side multiples, keeping proportions
  for (std::size_t axis = 0; axis < 3; ++axis) fitting = std::gcd(fitting, size[axis] / multiples[axis]);
  // 2D networks downsample by up to 32, so smaller increments are not worth searching.
  const std::int64_t common = !images ? fitting : sides % 32 == 0 ? sides / 32 : sides;
  Sizes sizes;
  sizes.dimension = Dimension::resolution;
  for (std::size_t axis = 0; axis < 3; ++axis) sizes.unit[axis] = size[axis] / common;
  if (images) sizes.planes = size[2];
  sizes.start = common;
  sizes.last = std::max<std::int64_t>(65536 / *std::max_element(sizes.unit.begin(), sizes.unit.end()), 1);
  return sizes;
}

Sizes depths(const Experiment& experiment) {
  const net::NetworkOptions& given = experiment.network;
  const auto [of_network, most] = net::network_depths(given.name);
  // Deep enough for all levels that the experiment configures.
  const std::size_t said =
      std::max({given.kernels.size(), given.strides.size(),
                given.deep_supervision.empty() ? std::size_t{0} : given.deep_supervision.size() + 1});
  const std::int64_t least = std::max(of_network, static_cast<std::int64_t>(said));
  Sizes sizes;
  sizes.dimension = Dimension::depth;
  sizes.first = sizes.last = least;
  sizes.start = experiment.network.depth;
  const Size3 size = input_size(experiment);
  for (std::int64_t depth = least; depth <= most; ++depth) {
    net::NetworkOptions network = experiment.network;
    network.depth = depth;
    const net::Along multiples = net::side_multiples(network);
    if (size[0] % multiples[0] != 0 || size[1] % multiples[1] != 0 || size[2] % multiples[2] != 0) break;
    sizes.last = depth;
  }
  return sizes;
}

Sizes sizes_of(const Experiment& experiment, Dimension dimension) {
  if (dimension == Dimension::resolution) return resolutions(experiment);
  if (dimension == Dimension::depth) return depths(experiment);
  Sizes sizes;
  sizes.dimension = Dimension::batch;
  sizes.start = experiment.training.batch_size;
  // Larger batches add only their images but take long to plan, unless the network takes a batch at once.
  const std::int64_t most = net::takes_batch_at_once(experiment.network.name) ? 4096 : 128;
  sizes.last = std::max(most, sizes.start);
  return sizes;
}

// Result of planning one size for a given amount of host memory.
struct Trial {
  std::string limit;               // why it does not fit
  std::optional<swap::Plan> plan;  // nullopt: does not fit
  double compute_seconds = 0;

  // Streamed images and results are stored beside the host pool; the host needs memory for both.
  std::int64_t host_needs() const { return plan->host_bytes + plan->streamed_bytes; }
  double slowdown() const { return plan->predicted_seconds / compute_seconds; }
};

using Hosts = std::map<std::int64_t, Trial>;   // by memory of the host
using Trials = std::map<std::int64_t, Hosts>;  // by size

// Bisection for one host.
class LargestSearch {
 public:
  using Clock = std::chrono::steady_clock;

  // `host`: assumed host memory. `trials`: shared by all hosts.
  LargestSearch(const Experiment& experiment, const RankGroups& ranks, const DataShape& data,
                const std::string& as, const Sizes& sizes, std::optional<std::int64_t> host, Trials& trials)
      : experiment_(experiment),
        ranks_(ranks),
        data_(data),
        as_(as),
        sizes_(sizes),
        host_(host),
        trials_(trials) {
    if (host) experiment_.memory.host_bytes = host;
    result_.dimension = sizes.dimension;
    result_.unit = sizes_.text(1);
    sizes_.start = std::clamp(sizes.start, sizes_.first, sizes_.last);
    good_ = sizes_.first - 1;
    bad_ = sizes_.last + 1;
  }

  // Ratio of the smallest known misfit to the largest known fit; 1 when the search is finished, `unknown`
  // while no fit or no misfit is known.
  double width() {
    for (const auto& [factor, hosts] : trials_)
      for (const auto& [memory, trial] : hosts) learn(factor, memory, trial);
    if (bad_ - good_ <= 1) return 1;
    if (good_ < sizes_.first || bad_ > sizes_.last) return unknown;
    return static_cast<double>(bad_) / static_cast<double>(good_);
  }
  static constexpr double unknown = 1e9;
  void narrow() { fits(next()); }

  // REQUIRES: width() is below `unknown`.
  void finish() {
    // Tuned routines may need other workspaces than those assumed in the search, where tuning each size would
    // take minutes.
    while (tunes_ && good_ >= sizes_.first && !fits(good_, /*tuned=*/true)) {
      bad_ = good_--;
      result_.limit = trials_.at(bad_).at(memory()).limit;
    }
    if (bad_ <= sizes_.last) result_.next = sizes_.text(bad_);
    if (host_) result_.host_bytes = *host_;
    if (good_ < sizes_.first) return;
    const Trial& best = trial_of(good_);
    result_.factor = good_;
    result_.size = sizes_.text(good_);
    if (bad_ - good_ > 1) result_.up_to = sizes_.text(bad_ - 1);
    result_.plan = best.plan;
    result_.compute_seconds = best.compute_seconds;
  }

  // Also finds the largest sizes with low overhead.
  Largest result(std::optional<Clock::time_point> end) {
    end_ = end;
    if (result_.factor > 0)
      for (const double times : most_times) result_.swift.push_back(swift(times));
    return std::move(result_);
  }

 private:
  bool is_late() const { return end_ && Clock::now() > *end_; }
  std::int64_t memory() const { return host_.value_or(0); }

  // A size fits if it fits with less host memory, or needs no more than this host has. It does not fit if it
  // does not with more.
  void learn(std::int64_t factor, std::int64_t memory, const Trial& trial) {
    if (factor <= good_ || factor >= bad_) return;
    if (is_possible(memory, trial)) good_ = factor;
    if (trial.plan || memory < this->memory()) return;
    bad_ = factor;
    result_.limit = trial.limit;
  }

  bool is_possible(std::int64_t memory, const Trial& trial) const {
    return trial.plan && (memory <= this->memory() || trial.host_needs() <= this->memory());
  }

  // Doubles until a size does not fit, then bisects.
  std::int64_t next() const {
    if (sizes_.start > good_ && sizes_.start < bad_) return sizes_.start;
    if (bad_ > sizes_.last && good_ >= sizes_.first) return std::min(2 * good_, sizes_.last);
    return good_ + (bad_ - good_) / 2;
  }

  // A trial that proves that the size fits.
  const Trial& trial_of(std::int64_t factor) const {
    const Hosts& hosts = trials_.at(factor);
    if (const auto own = hosts.find(memory()); own != hosts.end() && own->second.plan) return own->second;
    return std::find_if(hosts.begin(), hosts.end(),
                        [&](const auto& one) { return is_possible(one.first, one.second); })
        ->second;
  }

  swap::Plan plan(const StepForecast& step, std::int64_t factor) const {
    swap::Plan plan = step.plan(experiment_.memory.planner, /*quick=*/true);
    if (!host_ || plan.host_bytes + plan.streamed_bytes <= *host_) return plan;
    Experiment less = sizes_.at(factor, experiment_);
    less.memory.host_bytes = std::max<std::int64_t>(*host_ - plan.streamed_bytes, 0);
    return StepForecast(less, data_, {.estimate = true, .as = as_, .ranks = ranks_})
        .plan(experiment_.memory.planner, /*quick=*/true);
  }

  bool fits(std::int64_t factor, bool tuned = false) {
    throw_if_interrupted();
    Trial trial;
    try {
      const StepForecast step(sizes_.at(factor, experiment_), data_,
                              {.estimate = true, .tuned = tuned, .as = as_, .ranks = ranks_});
      tunes_ = dynamic_cast<const net::TuningBackend*>(step.target().backend.get()) != nullptr;
      result_.host_bytes = step.budgets().host;
      swap::Plan found = plan(step, factor);
      step.inference_peak(/*quick=*/true);
      trial.plan = std::move(found);
      trial.compute_seconds = step.compute_seconds();
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
      trial.limit = error.what();
    }
    const Trial& kept = trials_[factor][memory()] = std::move(trial);
    learn(factor, memory(), kept);
    log::info("{}{} {}; the largest is {}", host_ ? format("host {}: ", format_bytes(*host_)) : "",
              sizes_.text(factor), kept.plan ? "fits" : "does not fit", range_text());
    return kept.plan.has_value();
  }

  std::string range_text() const {
    if (good_ < sizes_.first) return "below " + sizes_.text(bad_);
    const std::string least = sizes_.text(good_);
    if (bad_ > sizes_.last) return good_ == sizes_.last ? least : least + " or more";
    return bad_ - good_ > 1 ? format("from {} to {}", least, sizes_.text(bad_ - 1)) : least;
  }

  // Less host memory never makes a step faster.
  const Trial* fast_enough(const Hosts& hosts, double times) const {
    for (const auto& [memory, trial] : hosts)
      if (is_possible(memory, trial) && trial.slowdown() <= times) return &trial;
    return nullptr;
  }

  // More host memory makes a step faster only if it was scarce.
  bool is_too_slow(const Hosts& hosts, double times) const {
    return std::any_of(hosts.begin(), hosts.end(), [&](const auto& one) {
      const auto& [memory, trial] = one;
      return trial.plan && trial.slowdown() > times &&
             (memory >= this->memory() || trial.host_needs() < memory / 2);
    });
  }

  // REQUIRES: good_ fits.
  Largest::Swift swift(double times) {
    std::int64_t yes = sizes_.first - 1, no = good_ + 1;
    for (const auto& [factor, hosts] : trials_)
      if (is_too_slow(hosts, times)) no = std::min(no, factor);
    for (const auto& [factor, hosts] : trials_)
      if (factor < no && fast_enough(hosts, times)) yes = factor;
    while (no - yes > 1 && !is_late()) {
      const std::int64_t middle = yes + (no - yes) / 2;
      fits(middle);
      (fast_enough(trials_.at(middle), times) ? yes : no) = middle;
    }
    Largest::Swift result;
    result.times = times;
    if (no - yes > 1) result.up_to = sizes_.text(no - 1);
    if (yes < sizes_.first) return result;
    result.factor = yes;
    result.size = sizes_.text(yes);
    result.step_seconds = fast_enough(trials_.at(yes), times)->plan->predicted_seconds;
    return result;
  }

  Experiment experiment_;
  const RankGroups& ranks_;
  const DataShape& data_;
  const std::string& as_;
  Sizes sizes_;
  const std::optional<std::int64_t> host_;
  Trials& trials_;
  std::optional<Clock::time_point> end_;
  std::int64_t good_ = 0, bad_ = 0;  // largest known fit, smallest known misfit
  bool tunes_ = false;
  Largest result_;
};

}  // namespace

std::vector<Largest> find_largest(const Experiment& experiment, const RankGroups& ranks,
                                  const DataShape& data, const std::string& as, Dimension dimension,
                                  double seconds) {
  if (experiment.training.patch && dimension == Dimension::resolution)
    fail(Exit::usage,
         "{} is set, so the size of a sample does not depend on {}. For the largest whole volume set {}=none",
         key::training_patch, key::preprocess_resolution, key::training_patch);
  const Sizes sizes = sizes_of(experiment, dimension);
  Trials trials;
  if (as.empty() || experiment.memory.host_bytes) {
    LargestSearch search(experiment, ranks, data, as, sizes, std::nullopt, trials);
    while (search.width() > 1) search.narrow();
    search.finish();
    return {search.result(std::nullopt)};
  }
  const auto start = LargestSearch::Clock::now();
  const auto after = [&](double part) {
    return start + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * part * seconds));
  };
  std::deque<LargestSearch> searches;
  for (const std::int64_t gibibytes : {256, 128, 64, 32})
    searches.emplace_back(experiment, ranks, data, as, sizes, gibibytes << 30, trials);
  // Narrow the widest interval next; among equals the one with most memory, which is the most informative
  // about the others.
  for (;;) {
    std::vector<double> widths;
    for (LargestSearch& search : searches) widths.push_back(search.width());
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= 1) break;
    if (*widest < LargestSearch::unknown && LargestSearch::Clock::now() > after(0.6)) break;
    searches[static_cast<std::size_t>(widest - widths.begin())].narrow();
  }
  std::vector<Largest> all;
  for (auto search = searches.rbegin(); search != searches.rend(); ++search) {
    search->finish();
    all.push_back(search->result(after(0.7 + 0.1 * static_cast<double>(all.size()))));
  }
  return all;
}

}  // namespace voxswap::pipeline
