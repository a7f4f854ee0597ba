#include "pipeline/report/slices.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "base/xml.h"
#include "data/volumes/picture.h"
#include "data/volumes/picture_text.h"
#include "data/volumes/transforms.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t gap = 6;      // pixels between the views
constexpr double view_pixels = 288;  // the longest side: two pictures fit beside each other on most screens

// Of a picture there is one view, and no side of a patient.
bool is_picture(const data::Geometry& stored) {
  return stored.size[2] == 1;
}
std::span<const View> views_of(const data::Geometry& stored) {
  return std::span(views).first(is_picture(stored) ? 1 : std::size(views));
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

// One for each view, through where most is labelled.
std::vector<Plane> planes_of(const CasePicture& what, const Scene& scene) {
  const bool has_labels =
      std::any_of(scene.truth.voxels.begin(), scene.truth.voxels.end(), [](auto v) { return v != 0; });
  std::vector<Plane> planes;
  for (const View& view : views_of(what.stored))
    planes.emplace_back(scene.image.geometry, view, has_labels ? scene.truth : scene.prediction,
                        to_fit(scene.image.geometry, view_pixels));
  return planes;
}

// A row for each plane, a column each for truth and prediction.
Pixels painted(const CasePicture& what, const Scene& scene, const std::vector<Plane>& planes) {
  std::vector<const data::LabelMap*> columns;
  if (!scene.truth.voxels.empty()) columns.push_back(&scene.truth);
  columns.push_back(&scene.prediction);
  std::int64_t width = 0, height = -gap;
  for (const Plane& plane : planes) {
    width = std::max(width, plane.width());
    height += plane.height() + gap;
  }
  const auto count = static_cast<std::int64_t>(columns.size());
  Pixels picture(count * (width + gap) - gap, height);
  const Window window = window_of(scene.image);
  const int outline = to_fit(scene.image.geometry, view_pixels) >= 2 ? 2 : 1;
  std::int64_t top = 0;
  for (const Plane& plane : planes) {
    for (std::int64_t i = 0; i < count; ++i)
      paint(picture, i * (width + gap) + (width - plane.width()) / 2, top, plane, scene.image, window,
            *columns[static_cast<std::size_t>(i)], what.regions, outline);
    top += plane.height() + gap;
  }
  return picture;
}

// "flair; truth left, prediction right; axial slice 14 of 35, coronal slice 60 of 120, sagittal slice 5 of 9"
std::string description_of(const CasePicture& what, const Scene& scene, const std::vector<Plane>& planes) {
  std::string text =
      what.channel + (what.truth.voxels.empty() ? "; prediction" : "; ground truth left, prediction right");
  if (is_picture(what.stored)) return text;
  std::vector<std::string> slices;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const std::size_t axis = planes[i].normal();
    slices.push_back(
        format("{} {}", views[i].name,
               slice_number(what.image.geometry, axis, scene.begin[axis] + planes[i].slice(), what.stored)));
  }
  return text + "; " + join(slices, ", ");
}

}  // namespace

std::string slices_png(const CasePicture& what) {
  const data::Geometry& grid = what.image.geometry;
  if (!data::same_grid(grid, what.prediction.geometry) ||
      (!what.truth.voxels.empty() && !data::same_grid(grid, what.truth.geometry))) {
    fail(Exit::bad_data, "{}: image ({}), ground truth and prediction have different grids", what.case_id,
         data::describe(grid));
  }
  const Scene scene = cropped(what);
  const std::vector<Plane> planes = planes_of(what, scene);
  const Pixels picture = painted(what, scene, planes);
  const std::string png = data::with_png_text(data::png_bytes(picture.width, picture.height, picture.rgb),
                                              "Description", as_utf8(description_of(what, scene, planes)));
  return data::with_png_text(png, "Comment", as_utf8(legend_text(what.regions)));
}

std::string slices_caption(std::string_view png) {
  const std::string description = data::png_text(png, "Description"), legend = data::png_text(png, "Comment");
  return join({description, legend}, description.empty() || legend.empty() ? "" : ". ");
}

void write_slices(const fs::path& png, const CasePicture& what) {
  write_file(png, slices_png(what));
}

}  // namespace voxswap::pipeline
