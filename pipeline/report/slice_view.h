// Slices through a volume in radiological orientation, with outlines of regions: for pictures of cases.
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

// A plane of the body as radiologists look at it: the patient's left on the right, anterior or superior up;
// in sagittal views anterior is on the left. Axes are those of a grid in the canonical frame
// (data/volumes/orientation.h), to the patient's left, posterior, superior.
struct View {
  std::size_t normal, right, down;
  bool upward;  // the axis `down` runs up in the picture
  const char* name;
};
inline constexpr View views[] = {
    {2, 0, 1, false, "axial"}, {1, 0, 2, true, "coronal"}, {0, 1, 2, true, "sagittal"}};

// Which values are black and white.
struct Window {
  float low = 0, high = 1;
  std::uint8_t grey(double value) const {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0, 1.0)));
  }
};
// From the 1st to the 99th percentile of what differs from the corner voxel: else the background decides.
Window window_of(const data::Image& image);

// How many pixels a voxel of the finest spacing gets: as many as make the longest side `pixels` long, but at
// most eight.
double to_fit(const data::Geometry& geometry, double pixels);

// The plane of a view through the slice with the most labels of `guide` (the middle one when it has none).
// Pixels are square in millimetres, `scale` of them per voxel of the finest spacing.
class Plane {
 public:
  Plane(const data::Geometry& geometry, const View& view, const data::LabelMap& guide, double scale);

  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }
  std::size_t normal() const { return view_.normal; }
  std::int64_t slice() const { return slice_; }                                 // across the normal, from 0
  double grey(const data::Image& image, std::int64_t x, std::int64_t y) const;  // bilinear
  std::int16_t label(const data::LabelMap& labels, std::int64_t x, std::int64_t y) const;  // nearest

 private:
  std::array<double, 3> voxel(std::int64_t x, std::int64_t y) const;

  View view_;
  std::int64_t slice_;
  data::Size3 size_;
  std::int64_t width_, height_;
};

// How a viewer of the file, whose grid may have its axes in another order and the other way round, counts the
// slices across axis `axis` of a canonical grid: slice `at` (from 0) is number first + step * at.
struct SliceCount {
  std::int64_t first = 1, step = 1, of = 0;
};
SliceCount slice_count(const data::Geometry& grid, std::size_t axis, const data::Geometry& stored);

// "slice 14 of 35": slice `at` (from 0) across axis `axis`, counted so.
std::string slice_number(const data::Geometry& grid, std::size_t axis, std::int64_t at,
                         const data::Geometry& stored);

// The image with the inner boundary of every region in the palette's colour for its place in the list,
// `outline` pixels wide; where boundaries of regions meet, their colours take turns.
Pixels painted(const Plane& plane, const data::Image& image, const Window& window,
               const data::LabelMap& labels, const data::Regions& regions, int outline = 1);

// Rows of pictures on one sheet, each in the middle of its column. A row without pictures is only a distance.
Pixels arranged(const std::vector<std::vector<Pixels>>& rows);

// Which colour is which region, in words: "Outlines: whole_tumor orange, tumor_core sky blue."
std::string legend_text(const data::Regions& regions);

// Pictures of cases for the report: the slices with most ground truth (or prediction), with both as outlines.

// What is shown. All of it is in the canonical frame (data/volumes/orientation.h), on one grid.
struct CasePicture {
  std::string case_id, channel;  // whose scan, and which of its images
  const data::Image& image;
  const data::LabelMap& truth;  // may be empty: then there is no left column
  const data::LabelMap& prediction;
  const data::Regions& regions;
  const data::Geometry& stored;  // of the case's files: slices have the numbers that they have there
};

// The bytes of a PNG: three orthogonal slices of what differs from the image's background, each where most is
// labelled; the left column has the outlines of the truth's regions, the right one those of the prediction.
// The file's text "Description" has the channel and the number of each slice, counted from 1 as in the case's
// file, its "Comment" the colour of each region. Throws Exit::bad_data where grids differ.
std::string slices_png(const CasePicture& what);
// Its texts, as a caption for a viewer that shows the pixels alone; empty where it has none.
std::string slices_caption(std::string_view png);
void write_slices(const fs::path& png, const CasePicture& what);

}  // namespace voxswap::pipeline
