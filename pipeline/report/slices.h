// Pictures of cases for the report: the slices with most ground truth (or prediction), with both as outlines.
#pragma once

#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "data/volumes/labels.h"
#include "data/volumes/volume.h"

namespace voxswap::pipeline {

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
