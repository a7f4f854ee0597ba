#include "pipeline/train/device_use.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"

namespace voxswap::pipeline {

std::string device_use_text(const DeviceUse& use, std::int64_t loader_threads) {
  constexpr double least_seconds = 1, busy_enough = 0.9, worth_a_word = 0.02;
  if (use.seconds < least_seconds) return "";
  const std::string busy =
      format("the device was busy for {:.0f} % of this epoch", std::floor(100 * use.busy()));
  if (use.busy() >= busy_enough) return busy;
  std::vector<std::pair<double, std::string>> causes = {
      {use.samples, format("waiting for samples (raise {}, now {}, or {})", key::training_loader_threads,
                           loader_threads, key::data_memory)},
      {use.copies, format("waiting for copies of swapped values (raise {})", key::memory_budget)},
      {use.validation - use.validation_busy, "reading and scoring validation cases"}};
  double rest = use.seconds * (1 - use.busy());
  for (const auto& [seconds, text] : causes) rest -= seconds;
  causes.emplace_back(rest, "starting steps, writing files and the rest");
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [seconds, text] : causes)
    if (seconds / use.seconds >= worth_a_word)
      parts.push_back(format("{:.0f} % {}", 100 * seconds / use.seconds, text));
  return parts.empty() ? busy : busy + "; " + join(parts, ", ");
}

void log_device_use(const DeviceUse& use, std::int64_t loader_threads) {
  if (const std::string text = device_use_text(use, loader_threads); !text.empty()) log::info("{}", text);
}

}  // namespace voxswap::pipeline
