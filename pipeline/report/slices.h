// Pictures of cases for the report: the slices with most truth (or prediction), truth and prediction as
// outlines.
#pragma once

#include <string>

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
  const data::Labels& names;
  const data::Geometry& stored;  // of the case's files: slices have the numbers that they have there
};

// The bytes of a PNG: three orthogonal slices of what differs from the image's background, each where most is
// labelled; the truth's outlines in one colour per label in the left column, the prediction's in the right
// one. Every row says which slice of the file it is, counted from 1, and which side of the patient is where;
// below them the labels with their colours. Throws Exit::bad_data where grids differ.
std::string slices_png(const CasePicture& what);
// Writes it.
void write_slices(const fs::path& png, const CasePicture& what);

}  // namespace voxswap::pipeline
