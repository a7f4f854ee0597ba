// Draws slices of a volume in radiological orientation, with outlines of regions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

// A view in radiological convention: the patient's right is on the left of the picture, anterior or superior
// is up; in sagittal views anterior is on the left. Axes are those of a grid in canonical orientation
// (data/volumes/orientation.h): towards the patient's left, posterior, superior.
struct View {
  std::size_t normal, right, down;
  bool upward;  // the axis `down` points up in the picture
  const char* name;
};
inline constexpr View views[] = {
    {2, 0, 1, false, "axial"}, {1, 0, 2, true, "coronal"}, {0, 1, 2, true, "sagittal"}};

// Values displayed as black and white.
struct Window {
  float low = 0, high = 1;
  std::uint8_t grey(double value) const {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0, 1.0)));
  }
};
// 1st to 99th percentile of voxels that differ from the corner voxel; otherwise the background would
// dominate.
Window window_of(const data::Image& image);

// Pixels per voxel of the finest spacing such that the longest side has `pixels`, but at most eight.
double to_fit(const data::Geometry& geometry, double pixels);

// The plane of a view through the slice with the most labels of `guide` (the middle one if there are none).
// Pixels are square in millimetres, with `scale` pixels per voxel of the finest spacing.
class Plane {
 public:
  Plane(const data::Geometry& geometry, const View& view, const data::LabelMap& guide, double scale);

  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }
  std::size_t normal() const { return view_.normal; }
  std::int64_t slice() const { return slice_; }  // index along the normal, from 0
  double grey(const data::Image& image, std::int64_t x, std::int64_t y) const;             // bilinear
  std::int16_t label(const data::LabelMap& labels, std::int64_t x, std::int64_t y) const;  // nearest

 private:
  std::array<double, 3> voxel(std::int64_t x, std::int64_t y) const;

  View view_;
  std::int64_t slice_;
  Size3 size_;
  std::int64_t width_, height_;
};

// Slice numbering as in viewers that open the case's file, whose axes may be permuted or flipped relative to
// a canonical grid: slice `at` (from 0) along `axis` has number first + step * at.
struct SliceCount {
  std::int64_t first = 1, step = 1, of = 0;
};
SliceCount slice_count(const data::Geometry& grid, std::size_t axis, const data::Geometry& stored);

// "slice 14 of 35" for slice `at` (from 0) along `axis`, in that numbering.
std::string slice_number(const data::Geometry& grid, std::size_t axis, std::int64_t at,
                         const data::Geometry& stored);

// The image with the inner boundary of every region, `outline` pixels wide, in the palette colour of the
// region's index; where boundaries coincide, colours alternate.
Pixels painted(const Plane& plane, const data::Image& image, const Window& window,
               const data::LabelMap& labels, const data::Regions& regions, int outline = 1);

// Arranges rows of pictures on one sheet, centred in their columns. An empty row is a gap.
Pixels arranged(const std::vector<std::vector<Pixels>>& rows);

// Describes the colours: "Outlines: whole_tumor orange, tumor_core sky blue."
std::string legend_text(const data::Regions& regions);

// Pictures of cases for the report: the slices with the most ground truth (or prediction), both as outlines.

// The case to draw. All parts are in canonical orientation (data/volumes/orientation.h) on one grid.
struct CasePicture {
  std::string case_id, channel;  // of the image
  const data::Image& image;
  const data::LabelMap& truth;  // may be empty: no left column
  const data::LabelMap& prediction;
  const data::Regions& regions;
  const data::Geometry& stored;  // grid of the case's files, used to number slices
};

// A PNG of three orthogonal slices through the foreground, each where most voxels are labelled, with outlines
// of the ground truth in the left column and of the prediction in the right one. The PNG text "Description"
// has the channel and slice numbers as in the case's file, counted from 1; "Comment" has the regions'
// colours. Throws Exit::bad_data if grids differ.
std::string slices_png(const CasePicture& what);
// The texts of such a PNG, for use as a caption; empty if there are none.
std::string slices_caption(std::string_view png);
void write_slices(const fs::path& png, const CasePicture& what);

}  // namespace voxswap::pipeline
