// DICOM segmentation objects: label maps as hospital archives and viewers accept them, with references to the
// source series.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/segmentation_writing.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

bool writes_dicom_segmentations();  // built with what they take

// Writes a binary segment for every label, of the slices where it is, with patient, study and frame of
// reference of the series in the folder `source`, whose slices it names. `labels` are on the grid of that
// series. Throws Exit::bad_data where a plane is none of its slices, or where nothing is labelled: such an
// object needs a frame. It has identifiers of its own, so it is other bytes each time.
void write_dicom_segmentation(const fs::path& path, const LabelMap& labels,
                              const std::vector<Segment>& segments, const fs::path& source,
                              const std::string& version);

}  // namespace voxswap::data
