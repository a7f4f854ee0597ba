#include "pipeline/report/slices.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "data/volumes/picture.h"
#include "data/volumes/transforms.h"
#include "pipeline/report/lettering.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t gap = 6;      // pixels between the views
constexpr double view_pixels = 288;  // the longest side: two pictures fit beside each other on most screens
constexpr int scale = 2;             // of the letters
constexpr std::int64_t letter = scale * letter_width, line = scale * line_height;
constexpr std::int64_t least_width = 25 * letter;  // "SAGITTAL, SLICE 140 OF 155"
// Of a picture there is one view, and no side of a patient.
bool is_picture(const data::Geometry& stored) {
  return stored.size[2] == 1;
}
std::span<const View> views_of(const data::Geometry& stored) {
  return std::span(views).first(is_picture(stored) ? 1 : std::size(views));
}

constexpr Color ink = {225, 225, 225}, faint = {165, 165, 165}, black = {0, 0, 0};

// The labels side by side, in lines as wide as the picture.
struct Legend {
  struct Entry {
    std::int64_t left, top;
    std::string name;
    Color color;
  };
  std::vector<Entry> entries;
  std::int64_t height = 0;
};

Legend legend_of(const data::Labels& names, std::int64_t width) {
  Legend legend;
  std::int64_t left = 0;
  for (const auto& [name, value] : names) {
    const auto needed = static_cast<std::int64_t>(name.size() + 3) * letter;  // with its square
    if (left > 0 && left + needed > width) {
      left = 0;
      legend.height += line;
    }
    legend.entries.push_back({left, legend.height, name, label_color(static_cast<std::int16_t>(value))});
    left += needed;
  }
  if (!legend.entries.empty()) legend.height += line;
  return legend;
}

// What is inside the box around everything that is not background.
struct Scene {
  data::Image image;
  data::LabelMap truth, prediction;
  data::Size3 begin;  // of the box, in the whole image
};

Scene cropped(const CasePicture& what) {
  const float background = data::corner_value(what.image);
  const data::Box box = data::foreground_box({what.image}, {&background, 1});
  return {data::crop(what.image, box), what.truth.voxels.empty() ? what.truth : data::crop(what.truth, box),
          data::crop(what.prediction, box), box.start};
}

void write_side(Pixels& picture, std::int64_t left, std::int64_t top, const char* side) {
  for (const auto& [dx, dy] : {std::pair{-2, 0}, {2, 0}, {0, -2}, {0, 2}})  // legible on any grey
    write_text(picture, left + dx, top + dy, side, black, scale);
  write_text(picture, left, top, side, ink, scale);
}

// The columns of a picture: truth and prediction, or prediction alone.
struct Columns {
  std::vector<std::pair<const char*, const data::LabelMap*>> of;
  std::int64_t width = 0;  // of one
  std::int64_t left(std::size_t i) const { return static_cast<std::int64_t>(i) * (width + gap); }
  std::int64_t all() const { return std::max(left(of.size()) - gap, least_width); }
};

std::int64_t paint_row(Pixels& picture, std::int64_t top, const CasePicture& what, const Scene& scene,
                       const Plane& plane, const View& view, const Columns& columns, const Window& window) {
  const std::int64_t at = scene.begin[plane.normal()] + plane.slice();
  const std::string slice = slice_number(what.image.geometry, plane.normal(), at, what.stored);
  if (!is_picture(what.stored)) {
    write_text(picture, 0, top + 4, format("{}, {}", view.name, slice), faint, scale);
    top += line;
  }
  const int outline = to_fit(scene.image.geometry, view_pixels) >= 2 ? 2 : 1;
  for (std::size_t i = 0; i < columns.of.size(); ++i) {
    const std::int64_t left = columns.left(i) + (columns.width - plane.width()) / 2;
    paint(picture, left, top, plane, scene.image, window, *columns.of[i].second, outline);
    if (is_picture(what.stored)) continue;
    const std::int64_t middle = top + plane.height() / 2 - line / 2;
    write_side(picture, left + 4, middle, view.left_side);
    write_side(picture, left + plane.width() - letter - 2, middle, view.right_side);
  }
  return top + plane.height() + gap;
}

void paint_legend(Pixels& picture, std::int64_t top, const Legend& legend) {
  for (const Legend::Entry& entry : legend.entries) {
    for (std::int64_t y = 0; y < letter; ++y) {
      for (std::int64_t x = 0; x < letter; ++x)
        picture.set(entry.left + x, top + entry.top + y + 2, entry.color);
    }
    write_text(picture, entry.left + letter + letter / 2, top + entry.top + 2, entry.name, ink, scale);
  }
}

Pixels painted(const CasePicture& what, const Scene& scene) {
  const auto& [image, truth, prediction, begin] = scene;
  const bool truth_is_labelled =
      std::any_of(truth.voxels.begin(), truth.voxels.end(), [](auto v) { return v != 0; });
  Columns columns;
  if (!truth.voxels.empty()) columns.of.push_back({"truth", &truth});
  columns.of.push_back({"prediction", &prediction});
  std::vector<Plane> planes;
  columns.width = 11 * letter;
  std::int64_t height = 0;
  for (const View& view : views_of(what.stored)) {
    planes.emplace_back(image.geometry, view, truth_is_labelled ? truth : prediction,
                        to_fit(image.geometry, view_pixels));
    columns.width = std::max(columns.width, planes.back().width());
    height += line + planes.back().height() + gap;
  }
  const std::int64_t width = columns.all();
  const auto letters = static_cast<std::size_t>(width / letter);
  const std::vector<std::string> title = wrapped(format("{}, {}", what.case_id, what.channel), letters);
  const Legend legend = legend_of(what.names, width);
  const std::int64_t heading = (static_cast<std::int64_t>(title.size()) + 1) * line;
  Pixels picture(width, heading + height + legend.height);
  std::int64_t top = 2;
  for (const std::string& text : title) {
    write_text(picture, 0, top, text, ink, scale);
    top += line;
  }
  for (std::size_t i = 0; i < columns.of.size(); ++i)
    write_text(picture, columns.left(i), top, columns.of[i].first, ink, scale);
  top = heading;
  const Window window = window_of(image);
  for (std::size_t i = 0; i < planes.size(); ++i)
    top = paint_row(picture, top, what, scene, planes[i], views[i], columns, window);
  paint_legend(picture, top, legend);
  return picture;
}

}  // namespace

std::string slices_png(const CasePicture& what) {
  const data::Geometry& grid = what.image.geometry;
  if (!data::same_grid(grid, what.prediction.geometry) ||
      (!what.truth.voxels.empty() && !data::same_grid(grid, what.truth.geometry))) {
    fail(Exit::bad_data, "{}: image ({}), truth and prediction are not on one grid", what.case_id,
         data::describe(grid));
  }
  const Pixels picture = painted(what, cropped(what));
  return data::png_bytes(picture.width, picture.height, picture.rgb);
}

void write_slices(const fs::path& png, const CasePicture& what) {
  write_file(png, slices_png(what));
}

}  // namespace voxswap::pipeline
