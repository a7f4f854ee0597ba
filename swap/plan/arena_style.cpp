#include "swap/plan/arena_style.h"

#include <cmath>

#include "base/text.h"
#include "base/xml.h"

namespace voxswap::swap {

std::string class_of(Fate fate, std::size_t shade) {
  return shade == 0 ? style(fate).css_class : format("{} t{}", style(fate).css_class, shade);
}

// Colours are legible on light and dark pages. Names have an outline in the colour of their rectangle.
std::string arena_css() {
  std::string css =
      ".arena{color:#1f2328;--ground:#ffffff;font:11px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif}"
      "@media(prefers-color-scheme:dark){.arena{color:#e6e8eb;--ground:#15181c}}"
      ".arena .ground{fill:#ffffff;fill:var(--ground)}"
      ".arena text{fill:currentColor}.arena .head{font-size:15px;font-weight:600}"
      ".arena .end{text-anchor:end}.arena .middle{text-anchor:middle}"
      ".arena .in{fill:#111;font-size:10px;pointer-events:none;paint-order:stroke;stroke-width:3px}"
      ".arena .pale{opacity:.75;font-size:10px}"
      ".arena .edge{stroke:#1f2328;stroke-width:.35}"
      ".arena g:hover>rect{stroke:#111;stroke-width:2}"
      ".arena .axis{stroke:currentColor;fill:none;stroke-width:1}"
      ".arena .grid{stroke:currentColor;fill:none;stroke-width:.6;opacity:.22}"
      ".arena .halo{stroke:#ffffff;stroke:var(--ground);fill:none;stroke-width:2.8;opacity:.75}"
      ".arena .sum{stroke:currentColor;fill:none;stroke-width:1.3}"
      ".arena .budget{stroke:#d1242f;fill:none;stroke-width:1.6;stroke-dasharray:7 4}"
      ".arena .turn{stroke:currentColor;fill:none;stroke-width:1;stroke-dasharray:2 3}"
      ".arena .move{fill:currentColor;opacity:.75}";
  for (const Style& s : styles)
    for (std::size_t shade = 0; shade < s.shades.size(); ++shade) {
      if (shade > 0 && std::string(s.shades[shade]) == s.shades[0]) continue;
      const std::string selector = format("{}{}", s.css_class, shade == 0 ? "" : format(".t{}", shade));
      css +=
          format(".arena .{0}{{fill:{1}}}.arena .in.{0}{{fill:#111;stroke:{1}}}", selector, s.shades[shade]);
    }
  return css;
}

namespace svg {

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

}  // namespace svg

}  // namespace voxswap::swap
