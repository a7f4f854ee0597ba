#include "pipeline/cases/epoch_sampler.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/philox.h"
#include "pipeline/cases/patches.h"

namespace voxswap::pipeline {

EpochSampler::EpochSampler(const Experiment& experiment, const RankGroups& ranks, std::uint64_t seed,
                           const std::vector<std::size_t>& cases, std::size_t case_count,
                           const std::vector<std::int64_t>& counts)
    : training_(experiment.training),
      share_(net::share_of(training_.batch_size, ranks.replica(), ranks.replicas())),
      seed_(seed),
      ranks_here_(ranks.all().on_this_machine()) {
  // If the batch is larger than the epoch, some cases are drawn twice.
  do {
    const std::int64_t most =
        counts.empty() ? patches_per_case(experiment) : *std::max_element(counts.begin(), counts.end());
    for (std::int64_t sample = 0; sample < most; ++sample) {
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (counts.empty() || sample < counts[i])
          items_.push_back({cases[i], static_cast<std::uint32_t>(
                                          static_cast<std::size_t>(sample) * case_count + cases[i])});
    }
  } while (items_.size() < static_cast<std::size_t>(training_.batch_size));
}

std::int64_t EpochSampler::steps() const {
  return static_cast<std::int64_t>(items_.size()) / training_.batch_size;
}

std::vector<EpochSampler::Item> EpochSampler::order(std::int64_t epoch) const {
  std::vector<Item> order = items_;
  const Philox random(seed_, static_cast<std::uint64_t>(epoch), 0x0de2);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.word(i) % i]);  // Fisher-Yates
  return order;
}

Sample EpochSampler::draw(Cases& cases, std::int64_t epoch, std::int64_t step) const {
  const std::vector<Item> sequence = order(epoch);
  Sample batch;
  for (std::int64_t i = 0; i < share_.count; ++i) {
    const Item& item = sequence[static_cast<std::size_t>(step * share_.batch + share_.first + i)];
    batch.drawn.push_back(cases.draw(item.case_index, training_.augment,
                                     {seed_, static_cast<std::uint64_t>(epoch), item.number}));
  }
  batch.case_index = batch.drawn[0].case_index;
  return batch;
}

Sample EpochSampler::batch(Cases& cases, std::int64_t epoch, std::int64_t step, Sample batch) const {
  const Sample drawn = draw(cases, epoch, step);
  const std::size_t each = cases.image_count();
  batch.case_index = drawn.case_index;
  batch.image.resize(each * drawn.drawn.size());
  batch.target.clear();
  for (std::size_t i = 0; i < drawn.drawn.size(); ++i) {
    const std::vector<std::uint8_t> target =
        cases.make(drawn.drawn[i], training_.augment, std::span(batch.image).subspan(i * each, each));
    batch.target.insert(batch.target.end(), target.begin(), target.end());
  }
  return batch;
}

std::int64_t EpochSampler::loader_threads(bool computes_on_host) const {
  if (training_.loader_threads > 0) return training_.loader_threads;
  // A rank that is bound to cores of its own has these; otherwise the ranks of a machine share all.
  const std::int64_t cores = usable_core_count() / (is_bound_to_cores() ? 1 : ranks_here_);
  return computes_on_host ? std::max<std::int64_t>(1, cores / 8) : std::clamp<std::int64_t>(cores - 1, 1, 16);
}

std::unique_ptr<Prefetcher> EpochSampler::load(Cases& cases, std::int64_t first,
                                               bool computes_on_host) const {
  const auto threads = static_cast<std::size_t>(loader_threads(computes_on_host));
  const auto produce = [=, this, &cases](std::size_t i, Sample used) {
    const std::int64_t at = first + static_cast<std::int64_t>(i), epoch = at / steps() + 1;
    return computes_on_host ? batch(cases, epoch, at % steps(), std::move(used))
                            : draw(cases, epoch, at % steps());
  };
  const std::int64_t count = std::max<std::int64_t>(training_.epochs * steps() - first, 0);
  return std::make_unique<Prefetcher>(static_cast<std::size_t>(count), produce, threads + 1, threads);
}

}  // namespace voxswap::pipeline
