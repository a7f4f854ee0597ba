// Style of the picture of the arena: the colour shows whether a value is kept, swapped or recomputed; the
// slabs of a volume share a shade.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace voxswap::swap {

enum class Fate { persistent, stays, gradient, swapped, recomputed, workspace };
struct Style {
  const char *css_class, *label;
  std::array<const char*, 3> shades;  // the first for whole values; volumes in slabs alternate
};
inline constexpr Style styles[] = {
    {"p", "parameters and optimiser state", {"#a7adb5", "#a7adb5", "#a7adb5"}},
    {"s", "kept until its last use", {"#63b3ec", "#9dd0f4", "#4a97cf"}},
    {"g", "gradient, kept", {"#d58bb8", "#e8b9d5", "#bd70a0"}},
    {"o", "swapped out and in", {"#f0a31c", "#f8c66b", "#d2880a"}},
    {"r", "recomputed", {"#4fc08d", "#8cd9b5", "#35a171"}},
    {"w", "workspace of a kernel", {"#efe04a", "#efe04a", "#efe04a"}},
};
inline const Style& style(Fate fate) {
  return styles[static_cast<std::size_t>(fate)];
}

std::string class_of(Fate fate, std::size_t shade);  // "o", "o t1"

std::string arena_css();

// Elements of SVG as text. Coordinates are pixels, y downward; arena_css() styles the classes.

namespace svg {

std::string pixels(double value);  // "12.3", "12"
std::string text_at(double x, double y, std::string_view css_class, std::string_view text);
std::string line(double x0, double y0, double x1, double y1, std::string_view css_class);

// Distance of the ticks of an axis: 1, 2 or 5 times a power of ten, for at most `most` intervals.
double round_step(double range, int most);

}  // namespace svg

}  // namespace voxswap::swap
