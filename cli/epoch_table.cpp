#include "base/parallel.h"
#include "base/text.h"
#include "cli/tables.h"

namespace voxswap::cli {

namespace {

std::string rate(double samples_per_second) {
  return format("{:.4g} samples per second", samples_per_second);
}

std::string percent(double share) {
  return format("{:.1f} %", 100 * share);
}

std::string conclusion(const pipeline::EpochBenchmark& epoch) {
  constexpr double worth_a_word = 0.02;
  const std::string device = epoch.card.empty() ? "the device" : "the " + epoch.card;
  if (epoch.loading_keeps_up()) return format("Loading keeps {} busy", device);
  const std::int64_t threads = epoch.loader_threads;
  const bool waits = epoch.wait_share >= worth_a_word;
  if (!waits && epoch.device_makes_samples)
    return format("Making samples takes time of {} from the steps: reduce training.augment", device);
  if (!waits)
    return format(
        "Loading takes cores from the steps: {} training.augment",
        threads > 1 ? format("lower training.loader_threads (now {}) or reduce", threads) : "reduce");
  return format("Loading does not keep {} busy: {}, or reduce training.augment", device,
                threads < usable_core_count() ? format("raise training.loader_threads (now {})", threads)
                                              : format("use more than {}", counted(threads, "core")));
}

}  // namespace

std::string epoch_table(const pipeline::EpochBenchmark& epoch) {
  const std::string steps =
      epoch.card.empty() ? "steps alone" : format("steps of the {}, predicted", epoch.card);
  return two_columns({{"samples alone", format("{}, {}", rate(epoch.samples_per_second),
                                               counted(epoch.loader_threads, "loader thread"))},
                      {steps, rate(epoch.steps_per_second)},
                      {"both", format("{}, {} of the steps alone", rate(epoch.both_per_second),
                                      percent(epoch.both_per_second / epoch.steps_per_second))},
                      {"waiting for samples", percent(epoch.wait_share)},
                      {"device busy", percent(epoch.device_busy)}}) +
         "\n" + conclusion(epoch) + "\n";
}

Json epoch_figures(const pipeline::EpochBenchmark& epoch) {
  return {{"samples_per_second", epoch.samples_per_second},
          {"steps_per_second", epoch.steps_per_second},
          {"both_per_second", epoch.both_per_second},
          {"wait_share", epoch.wait_share},
          {"device_busy", epoch.device_busy},
          {"loader_threads", epoch.loader_threads},
          {"device", epoch.card.empty() ? Json() : Json(epoch.card)}};
}

}  // namespace voxswap::cli
