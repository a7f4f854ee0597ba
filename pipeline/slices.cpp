#include "pipeline/slices.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "data/picture.h"
#include "pipeline/slice_view.h"

namespace voxswap {

namespace {

constexpr std::int64_t gap = 6;  // pixels between the views

}  // namespace

void write_slices(const std::filesystem::path& png, const Image& image, const LabelMap& truth,
                  const LabelMap& prediction) {
  const bool with_truth = !truth.voxels.empty();
  if (!same_grid(image.geometry, prediction.geometry) ||
      (with_truth && !same_grid(image.geometry, truth.geometry))) {
    fail(Exit::bad_data, "{}: image ({}), truth and prediction are not on one grid", png.string(),
         describe(image.geometry));
  }
  const bool truth_is_labelled =
      std::any_of(truth.voxels.begin(), truth.voxels.end(), [](auto v) { return v != 0; });
  const LabelMap& guide = truth_is_labelled ? truth : prediction;
  std::vector<Plane> planes;
  std::int64_t column = 0, height = -gap;
  for (const View& view : views) {
    planes.emplace_back(image.geometry, view, guide);
    column = std::max(column, planes.back().width());
    height += planes.back().height() + gap;
  }
  Pixels picture(with_truth ? 2 * column + gap : column, height);
  const Window window = window_of(image);
  std::int64_t top = 0;
  for (const Plane& plane : planes) {
    const std::int64_t inset = (column - plane.width()) / 2;
    if (with_truth) paint(picture, inset, top, plane, image, window, truth);
    paint(picture, inset + (with_truth ? column + gap : 0), top, plane, image, window, prediction);
    top += plane.height() + gap;
  }
  write_png(png, picture.width, picture.height, picture.rgb);
}

}  // namespace voxswap
