// Replaces the writers of DICOM if DCMTK is not installed.
#include "base/error.h"
#include "data/formats/dicom_segmentation.h"
#include "data/formats/dicom_writing.h"

namespace voxswap::data {

namespace {

[[noreturn]] void cannot_write(const fs::path& path) {
  fail(Exit::usage,
       "{}: this voxswap was built without DCMTK, which writes DICOM files. Install it and build again",
       path.string());
}

}  // namespace

bool writes_dicom_segmentations() {
  return false;
}

void write_dicom_segmentation(const fs::path& path, const LabelMap&, const std::vector<Segment>&,
                              const fs::path&, const std::string&) {
  cannot_write(path);
}

void write_dicom(const fs::path& folder, const Image&, const std::string&, const std::string&) {
  cannot_write(folder);
}

}  // namespace voxswap::data
