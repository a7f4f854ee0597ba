#include "pipeline/slices.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "data/picture.h"
#include "data/transforms.h"
#include "pipeline/lettering.h"
#include "pipeline/slice_view.h"

namespace voxswap {

namespace {

constexpr std::int64_t gap = 6;  // pixels between the views
constexpr Color ink = {200, 200, 200};

struct Legend {
  struct Entry {
    std::int64_t left, top;
    std::string name;
    Color color;
  };
  std::vector<Entry> entries;
  std::int64_t height = 0;
};

// The labels' names side by side, in lines as wide as the picture.
Legend legend_of(const Labels& names, std::int64_t width) {
  Legend legend;
  std::int64_t left = gap;
  for (const auto& [name, value] : names) {
    const auto needed = static_cast<std::int64_t>(name.size() + 2) * letter_width;
    if (left > gap && left + needed > width) {
      left = gap;
      legend.height += line_height;
    }
    legend.entries.push_back({left, legend.height, name, label_color(static_cast<std::int16_t>(value))});
    left += needed;
  }
  if (!legend.entries.empty()) legend.height += line_height;
  return legend;
}

// What is inside the box around everything that is not background.
struct Scene {
  Image image;
  LabelMap truth, prediction;
};

Scene cropped(const Image& image, const LabelMap& truth, const LabelMap& prediction) {
  const float background = corner_value(image);
  const Box box = foreground_box({image}, {&background, 1});
  return {crop(image, box), truth.voxels.empty() ? truth : crop(truth, box), crop(prediction, box)};
}

void paint_scene(const std::filesystem::path& png, const Scene& scene, const Labels& names) {
  const auto& [image, truth, prediction] = scene;
  const bool with_truth = !truth.voxels.empty();
  const bool truth_is_labelled =
      std::any_of(truth.voxels.begin(), truth.voxels.end(), [](auto v) { return v != 0; });
  const LabelMap& guide = truth_is_labelled ? truth : prediction;
  std::vector<Plane> planes;
  std::int64_t column = 12 * letter_width, height = line_height + gap;
  for (const View& view : views) {
    planes.emplace_back(image.geometry, view, guide);
    column = std::max(column, planes.back().width());
    height += planes.back().height() + gap;
  }
  const std::int64_t width = with_truth ? 2 * column + gap : column;
  const Legend legend = legend_of(names, width);
  Pixels picture(width, height + legend.height);
  if (with_truth) write_text(picture, gap, 2, "truth", ink);
  write_text(picture, gap + (with_truth ? column + gap : 0), 2, "prediction", ink);
  const Window window = window_of(image);
  std::int64_t top = line_height + gap;
  for (const Plane& plane : planes) {
    const std::int64_t inset = (column - plane.width()) / 2;
    if (with_truth) paint(picture, inset, top, plane, image, window, truth);
    paint(picture, inset + (with_truth ? column + gap : 0), top, plane, image, window, prediction);
    top += plane.height() + gap;
  }
  for (const Legend::Entry& entry : legend.entries)
    write_text(picture, entry.left, top + entry.top, entry.name, entry.color);
  write_png(png, picture.width, picture.height, picture.rgb);
}

}  // namespace

void write_slices(const std::filesystem::path& png, const Image& image, const LabelMap& truth,
                  const LabelMap& prediction, const Labels& names) {
  if (!same_grid(image.geometry, prediction.geometry) ||
      (!truth.voxels.empty() && !same_grid(image.geometry, truth.geometry))) {
    fail(Exit::bad_data, "{}: image ({}), truth and prediction are not on one grid", png.string(),
         describe(image.geometry));
  }
  paint_scene(png, cropped(image, truth, prediction), names);
}

}  // namespace voxswap
