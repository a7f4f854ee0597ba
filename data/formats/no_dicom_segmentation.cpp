// Replaces dicom_segmentation.cpp if DCMTK is not installed.
#include "base/error.h"
#include "data/formats/dicom_segmentation.h"

namespace voxswap::data {

bool writes_dicom_segmentations() {
  return false;
}

void write_dicom_segmentation(const fs::path& path, const LabelMap&, const std::vector<Segment>&,
                              const fs::path&, const std::string&) {
  fail(Exit::usage,
       "{}: this voxswap was built without DCMTK, which writes segmentation objects. Install it and build "
       "again",
       path.string());
}

}  // namespace voxswap::data
