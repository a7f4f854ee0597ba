// A colour picture in memory, black at first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

struct Pixels {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  Pixels(std::int64_t w, std::int64_t h)
      : width(w), height(h), rgb(static_cast<std::size_t>(w * h * 3), std::uint8_t{0}) {}
  void set(std::int64_t x, std::int64_t y, const Color& color) {
    std::copy(color.begin(), color.end(), rgb.begin() + (y * width + x) * 3);
  }
};

}  // namespace voxswap::pipeline
