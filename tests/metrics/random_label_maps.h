// The label maps of tests/fixtures/label_map_scores.py, from the same random numbers in the same order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "metrics/mask.h"

namespace voxswap::metrics {

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Numbers {
  std::uint64_t state;
  std::int64_t below(std::uint64_t n) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<std::int64_t>((z ^ (z >> 31)) % n);
  }
};

struct RandomLabelMaps {
  Size3 size{};
  Spacing spacing{};
  std::vector<std::int16_t> truth, prediction;

  explicit RandomLabelMaps(std::uint64_t seed) {
    Numbers numbers{seed};
    const auto place = [&] {
      Size3 at{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        at[axis] = numbers.below(static_cast<std::uint64_t>(size[axis]));
      return at;
    };
    const auto sides = [&](std::uint64_t most) {
      Size3 radius{};
      for (std::int64_t& side : radius) side = 1 + numbers.below(most);
      return radius;
    };
    for (std::int64_t& side : size) side = 6 + numbers.below(15);
    for (double& step : spacing) step = static_cast<double>(40 + numbers.below(261)) / 100;
    truth.assign(static_cast<std::size_t>(size[0] * size[1] * size[2]), 0);
    prediction = truth;
    for (std::int64_t shapes = numbers.below(6); shapes > 0; --shapes) {
      Size3 centre = place(), radius = sides(5);
      const auto label = static_cast<std::int16_t>(1 + numbers.below(3));
      const bool box = numbers.below(3) == 0;
      paint(truth, centre, radius, label, box);
      if (numbers.below(4) == 0) continue;
      for (std::int64_t& at : centre) at += numbers.below(3) - 1;
      for (std::int64_t& side : radius) side = std::max<std::int64_t>(1, side + numbers.below(3) - 1);
      paint(prediction, centre, radius, label, box);
    }
    for (std::int64_t spurious = numbers.below(4); spurious > 0; --spurious) {
      const Size3 centre = place(), radius = sides(2);
      paint(prediction, centre, radius, static_cast<std::int16_t>(1 + numbers.below(3)), true);
    }
  }

 private:
  void paint(std::vector<std::int16_t>& labels, const Size3& centre, const Size3& radius, std::int16_t label,
             bool box) const {
    const std::int64_t whole = radius[0] * radius[1] * radius[2];
    std::size_t i = 0;
    for (std::int64_t z = 0; z < size[2]; ++z) {
      for (std::int64_t y = 0; y < size[1]; ++y) {
        for (std::int64_t x = 0; x < size[0]; ++x, ++i) {
          const Size3 away{x - centre[0], y - centre[1], z - centre[2]};
          std::int64_t sum = 0;
          bool inside = true;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t part = away[axis] * (whole / radius[axis]);
            sum += part * part;
            inside = inside && std::abs(away[axis]) <= radius[axis];
          }
          if (box ? inside : sum <= whole * whole) labels[i] = label;
        }
      }
    }
  }
};

}  // namespace voxswap::metrics
