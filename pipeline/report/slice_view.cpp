#include "pipeline/report/slice_view.h"

#include <span>

#include "base/error.h"
#include "base/text.h"
#include "base/xml.h"
#include "data/volumes/picture.h"
#include "data/volumes/transforms.h"

namespace voxswap::pipeline {

namespace {

// The slice across voxel axis `axis` with the most labelled voxels; the middle one if there are no labels.
std::int64_t fullest_slice(const data::LabelMap& labels, std::size_t axis) {
  const Size3& size = labels.geometry.size;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size[axis]), 0);
  for (std::int64_t z = 0; z < size[2]; ++z) {
    for (std::int64_t y = 0; y < size[1]; ++y) {
      for (std::int64_t x = 0; x < size[0]; ++x) {
        if (labels.at(x, y, z) != 0) ++counts[static_cast<std::size_t>(std::array{x, y, z}[axis])];
      }
    }
  }
  const auto most = std::ranges::max_element(counts);
  return *most > 0 ? most - counts.begin() : static_cast<std::int64_t>(counts.size()) / 2;
}

// Length of a side, with `scale` pixels per voxel of the finest spacing.
double pixels_of(const data::Geometry& geometry, std::size_t axis, double scale = 1) {
  const double millimetres = static_cast<double>(geometry.size[axis]) * geometry.spacing[axis];
  return millimetres * scale / std::ranges::min(geometry.spacing);
}

std::int64_t extent(const data::Geometry& geometry, std::size_t axis, double scale) {
  return std::max<std::int64_t>(1, std::llround(pixels_of(geometry, axis, scale)));
}

// Pixel to voxel coordinates, aligned at centres as in resampling and clamped at the edges.
double coordinate(std::int64_t at, std::int64_t pixels, std::int64_t voxels) {
  const double part = (static_cast<double>(at) + 0.5) / static_cast<double>(pixels);
  return std::clamp(part * static_cast<double>(voxels) - 0.5, 0.0, static_cast<double>(voxels - 1));
}

bool belongs(const std::pair<std::string, std::vector<int>>& region, std::int16_t label) {
  return std::ranges::find(region.second, label) != region.second.end();
}

}  // namespace

double to_fit(const data::Geometry& geometry, double pixels) {
  return std::min(
      8.0, pixels / std::max({pixels_of(geometry, 0), pixels_of(geometry, 1), pixels_of(geometry, 2)}));
}

Window window_of(const data::Image& image) {
  std::vector<float> values = image.voxels;
  std::erase(values, image.voxels.front());
  if (values.empty()) return {image.voxels.front() - 1, image.voxels.front() + 1};
  const auto percentile = [&](double part) {
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  Window window{percentile(0.01), percentile(0.99)};
  if (window.high <= window.low) window.high = window.low + 1;
  return window;
}

Plane::Plane(const data::Geometry& geometry, const View& view, const data::LabelMap& guide, double scale)
    : view_(view),
      slice_(fullest_slice(guide, view.normal)),
      size_(geometry.size),
      width_(extent(geometry, view.right, scale)),
      height_(extent(geometry, view.down, scale)) {}

std::array<double, 3> Plane::voxel(std::int64_t x, std::int64_t y) const {
  std::array<double, 3> at{};
  at[view_.normal] = static_cast<double>(slice_);
  at[view_.right] = coordinate(x, width_, size_[view_.right]);
  at[view_.down] = coordinate(view_.upward ? height_ - 1 - y : y, height_, size_[view_.down]);
  return at;
}

double Plane::grey(const data::Image& image, std::int64_t x, std::int64_t y) const {
  const std::array<double, 3> at = voxel(x, y);
  const double a = at[view_.right], b = at[view_.down];
  const auto sample = [&](double i, double j) {
    std::array<std::int64_t, 3> v{};
    v[view_.normal] = slice_;
    v[view_.right] = static_cast<std::int64_t>(std::min(i, static_cast<double>(size_[view_.right] - 1)));
    v[view_.down] = static_cast<std::int64_t>(std::min(j, static_cast<double>(size_[view_.down] - 1)));
    return static_cast<double>(image.at(v[0], v[1], v[2]));
  };
  const double i = std::floor(a), j = std::floor(b), u = a - i, v = b - j;
  return (1 - v) * ((1 - u) * sample(i, j) + u * sample(i + 1, j)) +
         v * ((1 - u) * sample(i, j + 1) + u * sample(i + 1, j + 1));
}

std::int16_t Plane::label(const data::LabelMap& labels, std::int64_t x, std::int64_t y) const {
  const std::array<double, 3> at = voxel(x, y);
  return labels.at(std::lround(at[0]), std::lround(at[1]), std::lround(at[2]));
}

SliceCount slice_count(const data::Geometry& grid, std::size_t axis, const data::Geometry& stored) {
  const auto alignment = [&](std::size_t other) {
    double sum = 0;
    for (std::size_t world = 0; world < 3; ++world)
      sum += grid.direction[3 * world + axis] * stored.direction[3 * world + other];
    return sum;
  };
  std::size_t along = 0;
  for (std::size_t other = 1; other < 3; ++other)
    if (std::fabs(alignment(other)) > std::fabs(alignment(along))) along = other;
  const std::int64_t count = stored.size[along];
  return alignment(along) < 0 ? SliceCount{count, -1, count} : SliceCount{1, 1, count};
}

std::string slice_number(const data::Geometry& grid, std::size_t axis, std::int64_t at,
                         const data::Geometry& stored) {
  const SliceCount count = slice_count(grid, axis, stored);
  return format("slice {} of {}", count.first + count.step * at, count.of);
}

std::string legend_text(const data::Regions& regions) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < regions.size(); ++i)
    entries.push_back(format("{} {}", regions[i].first, palette_name(i)));
  return entries.empty() ? "" : "Outlines: " + join(entries, ", ") + ".";
}

Pixels painted(const Plane& plane, const data::Image& image, const Window& window,
               const data::LabelMap& labels, const data::Regions& regions, int outline) {
  Pixels picture(plane.width(), plane.height());
  constexpr std::int64_t dash = 6;  // pixels
  std::vector<std::size_t> edges;
  for (std::int64_t y = 0; y < plane.height(); ++y) {
    for (std::int64_t x = 0; x < plane.width(); ++x) {
      const std::int16_t label = plane.label(labels, x, y);
      const auto is_outside = [&](const auto& region, std::int64_t u, std::int64_t v) {
        return u < 0 || v < 0 || u >= plane.width() || v >= plane.height() ||
               !belongs(region, plane.label(labels, u, v));
      };
      const std::uint8_t grey = window.grey(plane.grey(image, x, y));
      edges.clear();
      for (std::size_t i = 0; label != 0 && i < regions.size(); ++i) {
        if (!belongs(regions[i], label)) continue;
        bool edge = false;
        for (int d = 1; !edge && d <= outline; ++d)
          edge = is_outside(regions[i], x - d, y) || is_outside(regions[i], x + d, y) ||
                 is_outside(regions[i], x, y - d) || is_outside(regions[i], x, y + d);
        if (edge) edges.push_back(i);
      }
      const std::size_t turn = static_cast<std::size_t>((x + y) / dash);
      const Color color = edges.empty() ? Color{grey, grey, grey} : palette_color(edges[turn % edges.size()]);
      picture.set(x, y, color);
    }
  }
  return picture;
}

Pixels arranged(const std::vector<std::vector<Pixels>>& rows) {
  constexpr std::int64_t gap = 6;  // pixels between pictures
  const auto height_of = [](const std::vector<Pixels>& row) {
    std::int64_t height = 0;
    for (const Pixels& picture : row) height = std::max(height, picture.height);
    return height;
  };
  std::int64_t column = 0, columns = 0, height = -gap;
  for (const std::vector<Pixels>& row : rows) {
    for (const Pixels& picture : row) column = std::max(column, picture.width);
    columns = std::max(columns, static_cast<std::int64_t>(row.size()));
    height += height_of(row) + gap;
  }
  Pixels sheet(columns * (column + gap) - gap, height);
  std::int64_t top = 0;
  for (const std::vector<Pixels>& row : rows) {
    std::int64_t left = 0;
    for (const Pixels& picture : row) {
      sheet.put(left + (column - picture.width) / 2, top, picture);
      left += column + gap;
    }
    top += height_of(row) + gap;
  }
  return sheet;
}

namespace {

constexpr double view_pixels = 288;  // longest side; two pictures fit side by side on most screens

// A 2D image has a single view, without anatomical orientation.
bool is_picture(const data::Geometry& stored) {
  return stored.size[2] == 1;
}
std::span<const View> views_of(const data::Geometry& stored) {
  return std::span(views).first(is_picture(stored) ? 1 : std::size(views));
}

// A case cropped to the bounding box of its foreground.
struct Scene {
  data::Image image;
  data::LabelMap truth, prediction;
  Size3 begin;  // start of the box in the whole image
};

Scene cropped(const CasePicture& what) {
  const float background = data::corner_value(what.image);
  const VoxelBox box = data::foreground_box({what.image}, {&background, 1});
  return {data::crop(what.image, box), what.truth.voxels.empty() ? what.truth : data::crop(what.truth, box),
          data::crop(what.prediction, box), box.start};
}

// One plane per view, through the slice with the most labels.
std::vector<Plane> planes_of(const CasePicture& what, const Scene& scene) {
  const bool has_labels = std::ranges::any_of(scene.truth.voxels, [](auto v) { return v != 0; });
  std::vector<Plane> planes;
  for (const View& view : views_of(what.stored))
    planes.emplace_back(scene.image.geometry, view, has_labels ? scene.truth : scene.prediction,
                        to_fit(scene.image.geometry, view_pixels));
  return planes;
}

// One row per plane, with columns for ground truth and prediction.
Pixels sheet_of(const CasePicture& what, const Scene& scene, const std::vector<Plane>& planes) {
  const Window window = window_of(scene.image);
  const int outline = to_fit(scene.image.geometry, view_pixels) >= 4 ? 3 : 2;
  std::vector<std::vector<Pixels>> rows;
  for (const Plane& plane : planes) {
    std::vector<Pixels>& row = rows.emplace_back();
    for (const data::LabelMap* labels : {&scene.truth, &scene.prediction})
      if (!labels->voxels.empty())
        row.push_back(painted(plane, scene.image, window, *labels, what.regions, outline));
  }
  return arranged(rows);
}

// "flair; ground truth left, prediction right; axial slice 14 of 35, coronal slice 60 of 120, sagittal slice
// 5 of 9"
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
  const Pixels picture = sheet_of(what, scene, planes);
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
