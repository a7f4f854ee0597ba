#include "data/dicom.h"

#include <gdcmTrace.h>
#include <itkGDCMImageIO.h>
#include <itkMetaDataObject.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/itk_buffer.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector column(const Geometry& geometry, std::size_t axis) {
  return {geometry.direction[axis], geometry.direction[3 + axis], geometry.direction[6 + axis]};
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// DICOM, part 10: 128 bytes of preamble, then these letters.
bool is_dicom_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 4> letters{};
  stream.seekg(128);
  return stream.read(letters.data(), 4) && std::string_view(letters.data(), 4) == "DICM";
}

std::vector<fs::path> dicom_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored) && is_dicom_file(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Slice {
  fs::path path;
  itk::GDCMImageIO::Pointer io;
  Geometry geometry;  // of this slice alone
  double height = 0;  // of its centre along the normal, mm

  std::string tag(const char* key) const {
    std::string value;
    itk::ExposeMetaData<std::string>(io->GetMetaDataDictionary(), key, value);
    return trim(value);
  }
};

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  fail(Exit::bad_data, "{}: {}", path.string(), why);
}

void check_kind(const Slice& slice) {
  if (slice.tag("0008|0060") == "SEG")
    refuse(slice.path, "is a DICOM segmentation object; convert it to a label map (.nii.gz) first");
  if (slice.tag("0008|0008").find("MOSAIC") != std::string::npos)
    refuse(slice.path, "is a Siemens mosaic, many slices in one picture; convert it to .nii.gz first");
  if (slice.io->GetNumberOfDimensions() > 2 && slice.io->GetDimensions(2) > 1)
    refuse(slice.path, format("is a multi-frame object of {} frames; convert it to .nii.gz first",
                              slice.io->GetDimensions(2)));
  if (slice.io->GetNumberOfComponents() != 1) refuse(slice.path, "holds colours, not intensities");
}

// GDCM's warnings go to stderr without a file name; what matters is checked here.
void silence_gdcm() {
  static const bool silent = [] {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    return true;
  }();
  static_cast<void>(silent);
}

Slice open_slice(const fs::path& path) {
  silence_gdcm();
  Slice slice{path, itk::GDCMImageIO::New(), {}};
  slice.io->SetFileName(path.string());
  reading(path, [&] { slice.io->ReadImageInformation(); });
  check_kind(slice);
  slice.geometry = geometry_of(path, *slice.io);
  return slice;
}

void check_series(const fs::path& folder, const std::vector<Slice>& slices) {
  std::map<std::string, std::string> series;
  for (const Slice& slice : slices) series.try_emplace(slice.tag("0020|000e"), slice.tag("0008|103e"));
  if (series.size() < 2) return;
  std::vector<std::string> described;
  for (const auto& [uid, description] : series) described.push_back(description.empty() ? uid : description);
  refuse(folder,
         format("holds {} series ({}); give each a folder of its own", series.size(), join(described, ", ")));
}

void check_planes(const std::vector<Slice>& slices) {
  const Slice& first = slices.front();
  for (const Slice& slice : slices) {
    for (std::size_t i = 0; i < 9; ++i) {
      if (i % 3 < 2 && !(std::fabs(slice.geometry.direction[i] - first.geometry.direction[i]) <= 1e-3))
        refuse(slice.path, format("lies in other planes than {}. Is it a localiser? Move it away",
                                  first.path.filename().string()));
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (slice.geometry.size[axis] != first.geometry.size[axis] ||
          !(std::fabs(slice.geometry.spacing[axis] - first.geometry.spacing[axis]) <= 1e-4))
        refuse(slice.path,
               format("has {}x{} pixels of {:g}x{:g} mm, {} has {}x{} of {:g}x{:g} mm",
                      slice.geometry.size[0], slice.geometry.size[1], slice.geometry.spacing[0],
                      slice.geometry.spacing[1], first.path.filename().string(), first.geometry.size[0],
                      first.geometry.size[1], first.geometry.spacing[0], first.geometry.spacing[1]));
    }
  }
}

// The distance of neighbours, when it is one. REQUIRES: sorted by height.
double gap_of(const fs::path& folder, const std::vector<Slice>& slices) {
  const double mean = (slices.back().height - slices.front().height) / static_cast<double>(slices.size() - 1);
  double smallest = mean;
  for (std::size_t i = 1; i < slices.size(); ++i) {
    const double step = slices[i].height - slices[i - 1].height;
    smallest = std::min(smallest, step);
    if (step < 1e-3)
      refuse(folder, format("{} and {} lie at the same place; several echoes, times or directions in one "
                            "series? Keep one of each place",
                            slices[i - 1].path.filename().string(), slices[i].path.filename().string()));
  }
  const double tolerance = 0.02 * smallest + 0.011;  // positions are written to 0.01 mm or finer
  for (std::size_t i = 1; i < slices.size(); ++i) {
    const double step = slices[i].height - slices[i - 1].height;
    if (step > 1.5 * smallest)
      refuse(folder, format("a slice is missing: {} and {} lie {:.3g} mm apart, others {:.3g} mm",
                            slices[i - 1].path.filename().string(), slices[i].path.filename().string(), step,
                            smallest));
    if (std::fabs(step - mean) > tolerance)
      refuse(folder, format("its slices lie {:.4g} to {:.4g} mm apart: no even grid; resample it first",
                            smallest, step));
  }
  return mean;
}

void check_straight(const fs::path& folder, const std::vector<Slice>& slices, const Vector& normal) {
  const Slice& first = slices.front();
  for (const Slice& slice : slices) {
    Vector sideways;
    for (std::size_t row = 0; row < 3; ++row)
      sideways[row] = slice.geometry.origin[row] - first.geometry.origin[row] -
                      normal[row] * (slice.height - first.height);
    const double shift = std::sqrt(dot(sideways, sideways));
    if (shift > 0.1 * std::min(first.geometry.spacing[0], first.geometry.spacing[1]))
      refuse(folder, format("its stack is slanted: {} lies {:.3g} mm beside the normal through {} (a tilted "
                            "gantry?); resample it onto a straight grid first",
                            slice.path.filename().string(), shift, first.path.filename().string()));
  }
}

// A single slice has no neighbour to measure a distance to.
double thickness_of(const Slice& slice) {
  for (const char* key : {"0018|0088", "0018|0050"}) {  // SpacingBetweenSlices, SliceThickness
    const double value = std::strtod(slice.tag(key).c_str(), nullptr);
    if (std::isfinite(value) && value > 0) return value;
  }
  return 1;
}

struct Series {
  std::vector<Slice> slices;  // from the first to the last along the normal
  Geometry geometry;
};

Series open_series(const fs::path& folder) {
  Series series;
  std::vector<Slice>& slices = series.slices;
  for (const fs::path& path : dicom_files(folder)) slices.push_back(open_slice(path));
  if (slices.empty()) refuse(folder, "is a folder without a DICOM file, not an image");
  check_series(folder, slices);
  check_planes(slices);
  const Vector normal = cross(column(slices[0].geometry, 0), column(slices[0].geometry, 1));
  for (Slice& slice : slices) slice.height = dot(slice.geometry.origin, normal);
  std::stable_sort(slices.begin(), slices.end(),
                   [](const Slice& a, const Slice& b) { return a.height < b.height; });
  series.geometry = slices.front().geometry;
  series.geometry.size[2] = static_cast<std::int64_t>(slices.size());
  series.geometry.spacing[2] = slices.size() > 1 ? gap_of(folder, slices) : thickness_of(slices[0]);
  check_straight(folder, slices, normal);
  for (std::size_t row = 0; row < 3; ++row) series.geometry.direction[row * 3 + 2] = normal[row];
  return series;
}

}  // namespace

bool is_dicom_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored) && is_dicom_file(entry.path())) return true;
  }
  return false;
}

std::unique_lock<std::mutex> gdcm_turn() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

std::string dicom_description(const fs::path& folder) {
  const auto turn = gdcm_turn();
  const std::vector<fs::path> files = dicom_files(folder);
  return files.empty() ? std::string() : open_slice(files.front()).tag("0008|103e");
}

ImageHeader dicom_header(const fs::path& folder) {
  const auto turn = gdcm_turn();
  const Series series = open_series(folder);
  const auto& io = *series.slices.front().io;
  return {series.geometry, 1, itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType()), {}};
}

std::vector<Image> dicom_volumes(const fs::path& folder, std::int64_t, std::int64_t) {
  const auto turn = gdcm_turn();
  const Series series = open_series(folder);
  Image image{series.geometry, {}};
  std::vector<float> voxels(static_cast<std::size_t>(series.geometry.size[0] * series.geometry.size[1]));
  for (const Slice& slice : series.slices) {
    convert(slice.path, *slice.io, read_buffer(slice.path, *slice.io), 0, voxels);
    image.voxels.insert(image.voxels.end(), voxels.begin(), voxels.end());
  }
  return {image};
}

}  // namespace voxswap
