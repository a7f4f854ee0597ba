// Extracts shapes from SVGs of gnuplot: boxes, points, and texts with their approximate size.
#pragma once

#include <array>
#include <regex>
#include <string>
#include <vector>

#include "base/text.h"
#include "pipeline/report/figure.h"

namespace voxswap::test {

struct Rectangle {
  double x0, y0, x1, y1;  // y downward
  bool overlaps(const Rectangle& other) const {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
};

struct Text {
  std::string text;
  double x, y;  // the anchor, on the baseline
  Rectangle room;
};

// Rectangles filled with this opacity, including those of the legend.
inline std::vector<Rectangle> filled_rectangles(const std::string& svg, const std::string& opacity) {
  const std::regex polygon(format(
      "fill-opacity = '{}' points = '([\\d.]+),([\\d.]+) ([\\d.]+),([\\d.]+) ([\\d.]+),([\\d.]+)", opacity));
  std::vector<Rectangle> boxes;
  for (std::sregex_iterator at(svg.begin(), svg.end(), polygon), none; at != none; ++at) {
    const auto number = [&](int group) { return std::stod((*at)[static_cast<std::size_t>(group)]); };
    boxes.push_back({number(1), std::min(number(2), number(6)), number(5), std::max(number(2), number(6))});
  }
  return boxes;
}

// The boxes of a box plot.
inline std::vector<Rectangle> boxes_of(const std::string& svg) {
  return filled_rectangles(svg, "0.300000");
}

// The bars of a chart.
inline std::vector<Rectangle> bars_of(const std::string& svg) {
  return filled_rectangles(svg, "0.850000");
}

// The number of points of gnuplot's type `pt`, without the definition of the mark.
inline std::size_t points_of(const std::string& svg, int pt) {
  const std::regex use(format("<use xlink:href='#gpPt{}' transform", pt - 1));
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(svg.begin(), svg.end(), use), std::sregex_iterator()));
}

// The x positions of the points of gnuplot's type `pt`.
inline std::vector<double> columns_of_points(const std::string& svg, int pt) {
  const std::regex use(format("<use xlink:href='#gpPt{}' transform='translate\\(([\\d.]+),", pt - 1));
  std::vector<double> columns;
  for (std::sregex_iterator at(svg.begin(), svg.end(), use), none; at != none; ++at)
    columns.push_back(std::stod((*at)[1]));
  return columns;
}

// The y positions of the corners of lines of this colour.
inline std::vector<double> heights_of_lines(const std::string& svg, const std::string& rgb) {
  std::vector<double> heights;
  const std::string begin = format("<path stroke='rgb({})'  d='", rgb);
  for (std::size_t at = 0; (at = svg.find(begin, at)) != svg.npos;) {
    at += begin.size();
    const std::string line = svg.substr(at, svg.find('\'', at) - at);
    static const std::regex corner("[ML]([\\d.]+),([\\d.]+)");
    for (std::sregex_iterator found(line.begin(), line.end(), corner), none; found != none; ++found)
      heights.push_back(std::stod((*found)[2]));
  }
  return heights;
}

// Horizontal texts; letters are assumed to be 0.55 of their height wide, as in Helvetica.
inline std::vector<Text> texts_of(const std::string& svg) {
  static const std::regex text(
      "translate\\(([\\d.]+),([\\d.]+)\\)\"[^>]*font-size=\"([\\d.]+)\"\\s+text-anchor=\"(\\w+)\">\\s*"
      "<text>([^<]*)</text>");
  std::vector<Text> texts;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), none; at != none; ++at) {
    const std::string content = trim((*at)[5].str());
    if (content.empty()) continue;
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]), size = std::stod((*at)[3]);
    const double width = 0.55 * size * static_cast<double>(pipeline::letters(content));
    const std::string anchor = (*at)[4];
    const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
    texts.push_back({content, x, y, {left, y - 0.75 * size, left + width, y + 0.1 * size}});
  }
  return texts;
}

// Pairs of texts that overlap, and texts beyond the edge.
inline std::vector<std::string> collisions(const std::string& svg) {
  static const std::regex view_box("viewBox=\"0 0 ([\\d.]+) ([\\d.]+)\"");
  std::smatch size;
  std::vector<std::string> found;
  if (!std::regex_search(svg, size, view_box)) return {"no viewBox"};
  const double width = std::stod(size[1]), height = std::stod(size[2]);
  const std::vector<Text> texts = texts_of(svg);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Rectangle& room = texts[i].room;
    if (room.x0 < 0 || room.x1 > width || room.y0 < 0 || room.y1 > height)
      found.push_back(texts[i].text + " is cut off");
    for (std::size_t j = i + 1; j < texts.size(); ++j) {
      if (room.overlaps(texts[j].room)) found.push_back(texts[i].text + " and " + texts[j].text);
    }
  }
  return found;
}

}  // namespace voxswap::test
