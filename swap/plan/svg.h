// Pieces of SVG as text. Coordinates are pixels, y downward; classes are styled by the picture.
#pragma once

#include <string>
#include <string_view>

namespace voxswap::swap::svg {

std::string pixels(double value);  // "12.3", "12"
std::string text_at(double x, double y, std::string_view css_class, std::string_view text);
std::string line(double x0, double y0, double x1, double y1, std::string_view css_class);

// Of an axis: 1, 2 or 5 times a power of ten, and at most `most` intervals.
double round_step(double range, int most);

}  // namespace voxswap::swap::svg
