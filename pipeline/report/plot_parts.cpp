#include "pipeline/report/plot_parts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "pipeline/report/gnuplot.h"

namespace voxswap::pipeline {

namespace {

constexpr int letter_pixels = 8;  // of the legend's font; most letters are narrower

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // inside UTF-8
}

}  // namespace

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Range Range::padded() const {
  if (empty()) return {0, 1};
  const double margin = high > low ? 0.06 * (high - low) : std::max(0.05 * std::fabs(low), 1e-3);
  return {low - margin, high + margin};
}

std::string Range::text() const {
  return format("[{}:{}]", low, high);
}

double tic_step(double range, double tics) {
  const double least = range / tics, power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1, 2, 5}) {
    if (step * power >= least) return step * power;
  }
  return 10 * power;
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string shortened(const std::string& text, std::size_t most_letters) {
  if (letters(text) <= most_letters) return text;
  std::string result;
  std::size_t count = 0;
  for (const char c : text) {
    if (!continues_character(c) && ++count >= most_letters) break;
    result += c;
  }
  return result + "\u2026";
}

std::vector<std::string> name_lines(const std::string& name, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::string word;
  const auto end_word = [&] {
    if (!lines.back().empty() && letters(lines.back()) + letters(word) > columns) lines.emplace_back();
    lines.back() += word;
    word.clear();
  };
  for (const char c : name) {
    if (letters(word) >= columns && !continues_character(c)) end_word();
    word += c;
    if (c == '_' || c == '-' || c == ',' || c == ' ') end_word();
  }
  end_word();
  return lines;
}

Legend::Legend(std::vector<LegendEntry> all, int width) : entries(std::move(all)) {
  if (entries.empty()) return;
  std::size_t longest = 0;
  for (LegendEntry& entry : entries) {
    entry.name = shortened(entry.name, static_cast<std::size_t>((width - 72) / letter_pixels));
    longest = std::max(longest, letters(entry.name));
  }
  const int count = static_cast<int>(entries.size());
  columns = std::clamp(width / (static_cast<int>(longest) * letter_pixels + 72), 1, count);
  rows = (count + columns - 1) / columns;
  columns = (count + rows - 1) / rows;  // even rows
}

std::string Legend::plot(int top, int picture_width, int picture_height) const {
  if (entries.empty()) return "";
  std::string elements;
  for (const LegendEntry& entry : entries)
    elements += format("keyentry with {} title {}, ", entry.sample, gnuplot_text(entry.name));
  return side_margins(4, 4, picture_width) + panel_place(0, picture_height, picture_height) +
         format("set key at screen 0.5,{} center top horizontal Left reverse maxcols {} width 1\n",
                1 - static_cast<double>(top) / picture_height, columns) +
         "unset border\nunset tics\nunset grid\nunset title\nunset xlabel\nunset label\n" +
         format("plot [0:1] [0:1] {}-1 notitle\n", elements);
}

std::string panel_place(double top, double bottom, int picture_height) {
  return format("set tmargin at screen {}\nset bmargin at screen {}\n", 1 - top / picture_height,
                1 - bottom / picture_height);
}

std::string side_margins(double left, double right, int picture_width) {
  return format("set lmargin at screen {}\nset rmargin at screen {}\n", left / picture_width,
                1 - right / picture_width);
}

}  // namespace voxswap::pipeline
