#include "data/prepare/resolution_advice.h"

#include <algorithm>

namespace voxswap::data {

namespace {

std::int64_t round_up(std::int64_t side, std::int64_t multiple) {
  return (side + multiple - 1) / multiple * multiple;
}

ResolutionAdvice judged(const Size3& size, const std::string& why, std::span<const Size3> foregrounds) {
  ResolutionAdvice advice{size, why, 0, 0};
  for (const Size3& foreground : foregrounds) {
    double kept = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      kept *= std::min(1.0, static_cast<double>(size[axis]) / static_cast<double>(foreground[axis]));
    advice.kept += kept / static_cast<double>(foregrounds.size());
    if (kept < 1) ++advice.shrunk;
  }
  return advice;
}

}  // namespace

std::vector<ResolutionAdvice> sensible_resolutions(std::span<const Size3> foregrounds,
                                                   std::int64_t multiple) {
  if (foregrounds.empty()) return {};
  Size3 median, largest;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<std::int64_t> sides;
    for (const Size3& foreground : foregrounds) sides.push_back(foreground[axis]);
    std::sort(sides.begin(), sides.end());
    median[axis] = round_up(sides[sides.size() / 2], multiple);
    largest[axis] = round_up(sides.back(), multiple);
  }
  const std::int64_t cube_of_all = *std::max_element(largest.begin(), largest.end());
  std::vector<ResolutionAdvice> advice;
  const auto add = [&](const Size3& size, const std::string& why) {
    const bool known =
        std::any_of(advice.begin(), advice.end(), [&](const auto& one) { return one.size == size; });
    if (!known) advice.push_back(judged(size, why, foregrounds));
  };
  add(largest, "smallest box without loss of detail");
  add(median, "box of the median foreground");
  for (const double part : {0.5, 0.75, 1.0}) {  // cubes, as in the published study: 144^3 and 192^3
    const std::int64_t side =
        round_up(static_cast<std::int64_t>(part * static_cast<double>(cube_of_all)), multiple);
    add({side, side, side}, side == cube_of_all ? "smallest cube without loss of detail" : "smaller cube");
  }
  std::sort(advice.begin(), advice.end(), [](const auto& a, const auto& b) {
    return a.size[0] * a.size[1] * a.size[2] < b.size[0] * b.size[1] * b.size[2];
  });
  return advice;
}

}  // namespace voxswap::data
