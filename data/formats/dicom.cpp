// Assembles slices into a series: whether they belong together, their orientation and their distance.
//
// If one slice differs from the others, the error names that slice: the reference is the majority, not the
// first slice.

#include "data/formats/dicom.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/decoder_process.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/file_bytes.h"
#include "data/formats/itk_buffer.h"

namespace voxswap::data {

namespace {

using Vector = std::array<double, 3>;
using Slices = std::vector<DicomSlice>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector column(const Geometry& geometry, std::size_t axis) {
  return {geometry.direction[axis], geometry.direction[3 + axis], geometry.direction[6 + axis]};
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Up to three names: "a.dcm, b.dcm, c.dcm and 12 others".
std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  if (names.size() <= most) return join(names, ", ");
  return join({names.begin(), names.begin() + most}, ", ") +
         format(" and {}", counted(names.size() - most, "other"));
}

void check_series(const fs::path& folder, const Slices& slices) {
  std::map<std::string, std::string> series;
  for (const DicomSlice& slice : slices)
    series.try_emplace(slice.elements.text(0x0020000e), slice.elements.text(0x0008103e));
  if (series.size() < 2) return;
  std::vector<std::string> described;
  for (const auto& [uid, description] : series) described.push_back(description.empty() ? uid : description);
  refuse_file(folder, format("contains {} ({}). Give each a folder of its own",
                             counted(series.size(), "series"), join(described, ", ")));
}

bool same_planes(const Geometry& a, const Geometry& b) {
  for (std::size_t i = 0; i < 9; ++i) {
    if (i % 3 < 2 && !(std::fabs(a.direction[i] - b.direction[i]) <= 1e-3)) return false;
  }
  return true;
}

bool same_pixels(const Geometry& a, const Geometry& b) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (a.size[axis] != b.size[axis] || !(std::fabs(a.spacing[axis] - b.spacing[axis]) <= 1e-4)) return false;
  }
  return true;
}

std::string pixels_of(const Geometry& geometry) {
  return format("{}x{} pixels of {:g}x{:g} mm", geometry.size[0], geometry.size[1], geometry.spacing[0],
                geometry.spacing[1]);
}

// The slice that agrees with most others; the first one if there are several.
template <class Same>
const DicomSlice& usual(const Slices& slices, Same same) {
  std::size_t best = 0, most = 0;
  for (std::size_t i = 0; i < slices.size() && most * 2 <= slices.size(); ++i) {
    const auto agree =
        static_cast<std::size_t>(std::count_if(slices.begin(), slices.end(), [&](const DicomSlice& other) {
          return same(slices[i].geometry, other.geometry);
        }));
    if (agree > most) best = i, most = agree;
  }
  return slices[best];
}

// Returns a slice whose planes and pixels all others share.
const DicomSlice& check_planes(const Slices& slices) {
  const DicomSlice& planes = usual(slices, same_planes);
  for (const DicomSlice& slice : slices) {
    if (!same_planes(slice.geometry, planes.geometry))
      refuse_file(slice.path,
                  format("is not parallel to {}. If it is a localiser, remove it", planes.name()));
  }
  const DicomSlice& pixels = usual(slices, same_pixels);
  for (const DicomSlice& slice : slices) {
    if (!same_pixels(slice.geometry, pixels.geometry))
      refuse_file(slice.path, format("has {}, but {} and most others have {}", pixels_of(slice.geometry),
                                     pixels.name(), pixels_of(pixels.geometry)));
  }
  return planes;
}

// The median; the lower one of an even number of values.
double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// Positions are stored with a precision of 0.01 mm or better.
double tolerance(double step) {
  return 0.02 * step + 0.011;
}

// The distances between consecutive slices. REQUIRES: sorted by height.
std::vector<double> steps_of(const fs::path& folder, const Slices& slices) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < slices.size(); ++i) {
    steps.push_back(slices[i].height - slices[i - 1].height);
    if (steps.back() < 1e-3)
      refuse_file(folder,
                  format("{} and {} have the same position, as from several echoes, times or directions. "
                         "Keep one slice per position",
                         slices[i - 1].name(), slices[i].name()));
  }
  return steps;
}

// The number of missing slices after each slice, if every step is a multiple of `usual`, at most `most`
// times; empty otherwise.
std::vector<std::int64_t> missing_after(const std::vector<double>& steps, double usual, double most) {
  std::vector<std::int64_t> missing;
  for (const double step : steps) {
    const double times = std::round(step / usual);
    if (times < 1 || times > most || std::fabs(step - times * usual) > times * tolerance(usual)) return {};
    missing.push_back(static_cast<std::int64_t>(times) - 1);
  }
  return missing;
}

// The usual step is the median or, if at least every second slice is missing, the smallest.
void check_gaps(const fs::path& folder, const Slices& slices, const std::vector<double>& steps) {
  double usual = middle(steps);
  std::vector<std::int64_t> missing = missing_after(steps, usual, 1000);
  if (missing.empty()) {
    usual = *std::min_element(steps.begin(), steps.end());
    missing = missing_after(steps, usual, 2);
  }
  std::vector<std::string> gaps;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) continue;
    count += missing[i];
    gaps.push_back(format("between {} and {}, which are {:.4g} mm apart", slices[i].name(),
                          slices[i + 1].name(), steps[i]));
  }
  if (count > 0)
    refuse_file(folder, format("{} missing: {}, while the others are {:.4g} mm apart. Fetch the series again",
                               count == 1 ? "1 slice is" : format("{} are", counted(count, "slice")),
                               names_of(gaps), usual));
}

// The distance between neighbouring slices if it is uniform. REQUIRES: sorted by height.
double gap_of(const fs::path& folder, const Slices& slices) {
  const std::vector<double> steps = steps_of(folder, slices);
  const double mean = (slices.back().height - slices.front().height) / static_cast<double>(steps.size());
  const double smallest = *std::min_element(steps.begin(), steps.end());
  const auto uneven = [&](double step) { return std::fabs(step - mean) > tolerance(smallest); };
  if (std::none_of(steps.begin(), steps.end(), uneven)) return mean;
  check_gaps(folder, slices, steps);
  const double usual = middle(steps);
  const auto oddest = std::max_element(steps.begin(), steps.end(), [&](double a, double b) {
    return std::fabs(a - usual) < std::fabs(b - usual);
  });
  const auto at = static_cast<std::size_t>(oddest - steps.begin());
  refuse_file(
      folder,
      format("its slices are {:.4g} to {:.4g} mm apart, most of them {:.4g} mm; {} and {} are {:.4g} mm "
             "apart, so the grid is irregular. Remove the odd slice or resample the series first",
             smallest, *std::max_element(steps.begin(), steps.end()), usual, slices[at].name(),
             slices[at + 1].name(), *oddest));
}

// Checks that all slices are on a common normal, at the median of their in-plane positions.
void check_straight(const fs::path& folder, const Slices& slices, const Vector& normal) {
  std::vector<Vector> places;  // without the component along the normal
  for (const DicomSlice& slice : slices) {
    Vector place = slice.geometry.origin;
    for (std::size_t row = 0; row < 3; ++row) place[row] -= normal[row] * slice.height;
    places.push_back(place);
  }
  Vector centre;
  for (std::size_t row = 0; row < 3; ++row) {
    std::vector<double> coordinates;
    for (const Vector& place : places) coordinates.push_back(place[row]);
    centre[row] = middle(coordinates);
  }
  const Geometry& pixels = slices.front().geometry;
  std::vector<std::string> beside;
  double furthest = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double shift =
        std::hypot(places[i][0] - centre[0], places[i][1] - centre[1], places[i][2] - centre[2]);
    if (shift <= 0.1 * std::min(pixels.spacing[0], pixels.spacing[1])) continue;
    beside.push_back(slices[i].name());
    furthest = std::max(furthest, shift);
  }
  if (beside.empty()) return;
  if (beside.size() * 2 < slices.size())
    refuse_file(folder,
                format("{} {} up to {:.3g} mm off the axis of the other slices. Remove slices of other scans",
                       names_of(beside), beside.size() == 1 ? "is" : "are", furthest));
  refuse_file(folder,
              format("its slices are up to {:.3g} mm off their common axis (tilted gantry). Resample it "
                     "onto a regular grid first",
                     furthest));
}

// A single slice has no neighbour, so the header is used.
double thickness_of(const DicomSlice& slice) {
  for (const std::uint32_t tag : {0x00180088U, 0x00180050U}) {  // SpacingBetweenSlices, SliceThickness
    const std::vector<double> values = slice.elements.numbers(tag);
    if (values.size() == 1 && std::isfinite(values[0]) && values[0] > 0) return values[0];
  }
  return 1;
}

struct Series {
  Slices slices;  // sorted along the normal
  Geometry geometry;
};

Series open_series(const fs::path& folder) {
  Series series;
  Slices& slices = series.slices;
  for (const fs::path& path : dicom_files(folder)) slices.push_back(open_slice(path));
  if (slices.empty()) refuse_file(folder, "is a folder without a DICOM file, not an image");
  check_series(folder, slices);
  const Geometry planes = check_planes(slices).geometry;
  const Vector normal = cross(column(planes, 0), column(planes, 1));
  for (DicomSlice& slice : slices) slice.height = dot(slice.geometry.origin, normal);
  std::stable_sort(slices.begin(), slices.end(),
                   [](const DicomSlice& a, const DicomSlice& b) { return a.height < b.height; });
  series.geometry = slices.front().geometry;
  series.geometry.size[2] = static_cast<std::int64_t>(slices.size());
  series.geometry.spacing[2] = slices.size() > 1 ? gap_of(folder, slices) : thickness_of(slices[0]);
  check_straight(folder, slices, normal);
  for (std::size_t row = 0; row < 3; ++row) series.geometry.direction[row * 3 + 2] = normal[row];
  return series;
}

ImageHeader header_of(const Series& series) {
  return {series.geometry, 1, series.slices.front().element, {}};
}

}  // namespace

ImageHeader dicom_header(const fs::path& folder) {
  return header_of(open_series(folder));
}

std::vector<Image> dicom_volumes(const fs::path& folder, const ChooseVolumes& choose) {
  Image image;
  reading(folder, [&] {
    const Series series = open_series(folder);
    choose(header_of(series));  // a series is one volume
    image.geometry = series.geometry;
    image.voxels.reserve(static_cast<std::size_t>(series.geometry.count()));
    for (const DicomSlice& slice : series.slices) {
      const std::vector<float> voxels =
          needs_decoder(slice) ? decoded_slice(slice.path) : slice_voxels(slice);
      if (std::ssize(voxels) != slice.geometry.count()) refuse_file(slice.path, "changed while it was read");
      image.voxels.insert(image.voxels.end(), voxels.begin(), voxels.end());
    }
  });
  return {image};
}

namespace {

// DICOM, part 10: a preamble of 128 bytes, then these letters.
bool is_dicom_file(const fs::path& path) {
  std::array<char, 4> letters{};
  try {
    FileBytes file(path);
    file.seek(128);
    return file.read(letters.data(), 4) && std::string_view(letters.data(), 4) == "DICM";
  } catch (const Error& error) {
    if (error.exit() != Exit::bad_data) throw;  // device failure or lack of memory
    return false;                               // not readable as DICOM
  }
}

std::vector<fs::path> regular_files(const fs::path& folder) {
  std::vector<fs::path> files;
  error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (fs::is_regular_file(entry.path(), ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Opens no further file of the series.
std::string text_of_first(const fs::path& folder, std::uint32_t tag) {
  const std::vector<fs::path> files = regular_files(folder);
  const auto first = std::find_if(files.begin(), files.end(), is_dicom_file);
  return first == files.end() ? std::string() : element_text(*first, tag);
}

}  // namespace

std::string dicom_description(const fs::path& folder) {
  return text_of_first(folder, 0x0008103e);
}

std::string dicom_patient(const fs::path& folder) {
  return text_of_first(folder, 0x00100020);
}

std::vector<fs::path> dicom_files(const fs::path& folder) {
  std::vector<fs::path> files = regular_files(folder);
  std::erase_if(files, [](const fs::path& file) { return !is_dicom_file(file); });
  return files;
}

bool is_dicom_folder(const fs::path& folder) {
  error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::is_regular_file(entry.path(), ignored) && is_dicom_file(entry.path())) return true;
  }
  return false;
}

}  // namespace voxswap::data
