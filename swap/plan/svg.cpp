#include "swap/plan/svg.h"

#include <cmath>

#include "base/text.h"
#include "base/xml.h"

namespace voxswap::swap::svg {

std::string pixels(double value) {
  std::string text = format("{:.1f}", value);
  if (ends_with(text, ".0")) text.resize(text.size() - 2);
  return text;
}

std::string text_at(double x, double y, std::string_view css_class, std::string_view text) {
  return format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", pixels(x), pixels(y), css_class,
                xml_escaped(text));
}

std::string line(double x0, double y0, double x1, double y1, std::string_view css_class) {
  return format("<path d=\"M{} {}L{} {}\" class=\"{}\"/>\n", pixels(x0), pixels(y0), pixels(x1), pixels(y1),
                css_class);
}

double round_step(double range, int most) {
  double step = std::pow(10, std::floor(std::log10(range / most)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (range / (step * factor) <= most) return step * factor;
  return step * 10;
}

}  // namespace voxswap::swap::svg
