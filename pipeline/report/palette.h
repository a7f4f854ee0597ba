// The colours of reports: used by plots, the viewer, still pictures, TensorBoard and segmentations. An
// experiment's first region has the first colour in all of them. Groups of runs have other colours
// (group_colors.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace voxswap::pipeline {

using Color = std::array<std::uint8_t, 3>;  // red, green, blue

// Visible on white, black and grey. The first twelve are distinguishable with any colour vision, and the
// first thousand are distinct.
Color palette_color(std::size_t index);
// A ramp for ordered values, from light (0) to dark (1); also visible on white and black.
Color ramp_color(double share);
std::string palette_name(std::size_t index);  // "sky blue", or "#8ab4f0" for colours without name

std::string hex(const Color& color);        // "#56b4e9"
std::string plot_color(std::size_t index);  // "#56b4e9", of a palette colour

inline constexpr Color missed_color{255, 48, 48}, false_color{32, 224, 255};  // voxels in the viewer
inline constexpr const char* limit_color = "#d1242f";                         // of a memory budget
inline constexpr const char* plot_ink = "#444444";                            // text, axes, medians
inline constexpr const char* plot_line = "#dddddd";                           // grid

// An RGB image in memory, initially black.
struct Pixels {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  Pixels(std::int64_t w, std::int64_t h)
      : width(w), height(h), rgb(static_cast<std::size_t>(w * h * 3), std::uint8_t{0}) {}
  void set(std::int64_t x, std::int64_t y, const Color& color) {
    std::copy(color.begin(), color.end(), rgb.begin() + (y * width + x) * 3);
  }
  void put(std::int64_t left, std::int64_t top, const Pixels& other) {
    for (std::int64_t y = 0; y < other.height; ++y) {
      const auto row = other.rgb.begin() + y * other.width * 3;
      std::copy(row, row + other.width * 3, rgb.begin() + ((top + y) * width + left) * 3);
    }
  }
};

}  // namespace voxswap::pipeline
