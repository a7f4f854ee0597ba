#include "pipeline/report/drawing.h"

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/gnuplot.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

// gnuplot calls every SVG "Gnuplot" and its parts "gnuplot_plot_1", which browsers show where a pointer
// rests, and leaves "]]>" in texts, which XML forbids.
std::string tidied(std::string svg, const std::string& title) {
  replace_all(svg, "<title>Gnuplot</title>", format("<title>{}</title>", xml_escaped(title)));
  for (std::size_t at = 0; (at = svg.find("<title>gnuplot_plot_", at)) != svg.npos;)
    svg.erase(at, svg.find("</title>", at) + 8 - at);
  replace_all(svg, "]]>", "]]&gt;");
  return svg;
}

}  // namespace

Picture draw(const std::string& script, int width, int height, const std::string& title) {
  const std::string shared = format(
      "set encoding utf8\n"
      "set border 3 lc rgb '{0}' lw 0.8\n"
      "set grid y lc rgb '{1}' lt 1 lw 0.6\n"
      "set tics textcolor rgb '{0}' nomirror scale 0.5\n"
      "set key textcolor rgb '{0}' samplen 1.5 spacing 1.15\n",
      plot_ink, plot_line);
  // The PNG is twice as fine as a screen, so that it can be printed.
  const std::string svg = format(
      "set terminal svg size {},{} dynamic font 'Helvetica,Arial,sans-serif,13' noenhanced background "
      "'#ffffff'\n"
      "small = ',11'; point = 0.75\n",
      width, height);
  const std::string png = format(
      "set terminal pngcairo size {},{} font 'Sans,10' fontscale 2 linewidth 2 pointscale 2 noenhanced "
      "background '#ffffff'\n"
      "small = ',8.5'; point = 1\n",
      2 * width, 2 * height);
  return {tidied(gnuplot(svg + shared + script), title), gnuplot(png + shared + script)};
}

}  // namespace voxswap::pipeline
