#include "pipeline/report/palette.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"

namespace voxswap::pipeline {

namespace {

struct Named {
  const char* name;
  Color color;
};

// The colours of Okabe and Ito ("Color Universal Design", 2008) without black and yellow, which are invisible
// on black or white, and six more that differ in lightness from them and from their neighbours.
constexpr Named named[] = {
    {"orange", {230, 159, 0}},      {"sky blue", {86, 180, 233}}, {"green", {0, 158, 115}},
    {"pink", {204, 121, 167}},      {"vermilion", {213, 94, 0}},  {"blue", {0, 114, 178}},
    {"violet", {143, 111, 224}},    {"olive", {168, 173, 0}},     {"brown", {140, 86, 75}},
    {"grey blue", {127, 154, 168}}, {"magenta", {224, 64, 160}},  {"dark green", {47, 154, 58}}};

// Relative luminance of red, green and blue (ITU-R BT.709).
constexpr double luminance_weights[3] = {0.2126, 0.7152, 0.0722};

// A hue (0 to 6: red, yellow, green, cyan, blue, magenta, red), mixed with black or white to the given
// luminance.
Color of_hue(double hue, double luminance) {
  double light[3], own = 0;
  for (int c = 0; c < 3; ++c) {
    light[c] = std::clamp(2 - std::fabs(std::remainder(hue - 2 * c, 6.0)), 0.0, 1.0);
    own += luminance_weights[c] * light[c];
  }
  Color color{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double mixed =
        own > luminance ? light[c] * luminance / own : 1 - (1 - light[c]) * (1 - luminance) / (1 - own);
    color[c] = static_cast<std::uint8_t>(std::lround(255 * std::pow(mixed, 1 / 2.2)));
  }
  return color;
}

}  // namespace

// After the named colours, hues advance by the golden section, so that neighbours differ clearly.
Color palette_color(std::size_t index) {
  if (index < std::size(named)) return named[index].color;
  const auto place = static_cast<double>(index - std::size(named));
  const double turns = 0.6180339887498949 * place, hue = 6 * (turns - std::floor(turns));
  constexpr double luminances[] = {0.3, 0.18, 0.42};
  return of_hue(hue, luminances[index % 3]);
}

Color ramp_color(double share) {
  constexpr Color light{214, 160, 218}, dark{146, 70, 178};
  Color color{};
  for (std::size_t c = 0; c < 3; ++c)
    color[c] = static_cast<std::uint8_t>(std::lround(std::lerp(light[c], dark[c], share)));
  return color;
}

std::string palette_name(std::size_t index) {
  return index < std::size(named) ? named[index].name : hex(palette_color(index));
}

std::string hex(const Color& color) {
  return format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
}

std::string plot_color(std::size_t index) {
  return hex(palette_color(index));
}

}  // namespace voxswap::pipeline
