#include "pipeline/train/slow_rank.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap::pipeline {

std::optional<std::size_t> slow_rank(const std::vector<double>& seconds) {
  constexpr double much_longer = 1.5;
  if (seconds.size() < 2) return std::nullopt;
  const auto slowest = std::max_element(seconds.begin(), seconds.end());
  std::vector<double> others(seconds.begin(), slowest);
  others.insert(others.end(), slowest + 1, seconds.end());
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  if (*slowest < much_longer * *middle) return std::nullopt;
  return static_cast<std::size_t>(slowest - seconds.begin());
}

bool warn_of_slow_rank(net::Ranks& ranks, double seconds) {
  if (ranks.is_alone()) return false;
  char machine[256] = "";
  ::gethostname(machine, sizeof machine - 1);
  std::vector<double> all;
  std::vector<std::string> machines;
  for (const std::string& of_rank : net::gather(ranks, format("{} {}", seconds, machine))) {
    std::istringstream words(of_rank);
    words >> all.emplace_back() >> machines.emplace_back();
  }
  const std::optional<std::size_t> slow = slow_rank(all);
  if (!slow || !ranks.is_first()) return slow.has_value();
  log::warn(
      "rank {} on {} ran kernels for {} in this epoch, rank {} for {}: the others wait for it. Look for "
      "other "
      "programs on that machine, or leave it out",
      *slow, machines[*slow], format_seconds(all[*slow]), *slow == 0 ? 1 : 0,
      format_seconds(all[*slow == 0 ? 1 : 0]));
  return true;
}

}  // namespace voxswap::pipeline
