// DICOM segmentation objects: label maps that hospital archives and viewers accept, with references to the
// source series.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/segmentation_writing.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

bool writes_dicom_segmentations();  // whether DCMTK is available

// Writes one binary segment per label, with the slices that contain it. Patient, study and frame of reference
// are those of the series in the folder `source`, whose slices are referenced. `labels` are on that series'
// grid. Throws Exit::bad_data if a plane matches no slice, or if no voxel is labelled, because an object
// needs at least one frame. Each object gets new identifiers, so the bytes differ each time.
void write_dicom_segmentation(const fs::path& path, const LabelMap& labels,
                              const std::vector<Segment>& segments, const fs::path& source,
                              const std::string& version);

}  // namespace voxswap::data
