#include "data/formats/dicom_slice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/voxel_bytes.h"

namespace voxswap::data {

namespace {

// Tags from DICOM part 6.
constexpr std::uint32_t image_type = 0x00080008, sop_class = 0x00080016, modality = 0x00080060,
                        imager_spacing = 0x00181164, scanned_spacing = 0x00182010, position = 0x00200032,
                        orientation = 0x00200037, samples_per_pixel = 0x00280002, photometric = 0x00280004,
                        frame_count = 0x00280008, row_count = 0x00280010, column_count = 0x00280011,
                        pixel_spacing = 0x00280030, bits_allocated = 0x00280100, bits_stored = 0x00280101,
                        high_bit = 0x00280102, pixel_sign = 0x00280103;

void check_kind(const fs::path& path, const DicomElements& elements) {
  if (elements.deflated) refuse_file(path, "its elements are deflated. Convert it to .nii.gz first");
  if (elements.text(modality) == "SEG")
    refuse_file(path, "is a DICOM segmentation object. Convert it to a label map (.nii.gz) first");
  if (elements.text(image_type).find("MOSAIC") != std::string::npos)
    refuse_file(path, "is a Siemens mosaic, many slices in one image. Convert it to .nii.gz first");
  if (const std::int64_t frames = elements.number(frame_count, 1); frames > 1)
    refuse_file(
        path, format("is a multi-frame object of {}. Convert it to .nii.gz first", counted(frames, "frame")));
  if (elements.number(samples_per_pixel, 1) != 1 || elements.text(photometric) == "PALETTE COLOR")
    refuse_file(path, "holds colours instead of intensities");
}

std::string element_of(const fs::path& path, const DicomElements& elements) {
  const std::int64_t bits = elements.number(bits_allocated, 0), stored = elements.number(bits_stored, bits),
                     top = elements.number(high_bit, stored - 1);
  if ((bits != 8 && bits != 16 && bits != 32) || stored < 1 || stored > bits || top < stored - 1 ||
      top >= bits)
    refuse_file(
        path, format("is damaged: its header declares {} bits, {} of them used, the highest number {}", bits,
                     stored, top));
  return format("{}int{}", elements.number(pixel_sign, 0) == 0 ? "u" : "", bits);
}

std::int64_t pixel_count(const DicomElements& elements) {
  return elements.number(row_count, 0) * elements.number(column_count, 0);
}

void check_pixels(const fs::path& path, const DicomElements& elements, const std::string& element) {
  if (pixel_count(elements) == 0) refuse_file(path, "is damaged: its header declares no rows or no columns");
  if (elements.pixel_length == DicomElements::in_fragments) return;
  const std::int64_t promised = pixel_count(elements) * static_cast<std::int64_t>(bytes_of_element(element)),
                     there = elements.pixel_length;
  if (there < promised)
    refuse_file(
        path, format("is truncated: its header declares {} of pixels, found {}. Fetch or copy the file again",
                     counted(promised, "byte"), there));
  if (there > promised + 1)  // an odd length is padded by one byte
    refuse_file(path, format("is damaged: it holds {} of pixels, but its header declares {}",
                             counted(there, "byte"), promised));
}

// `count` finite numbers, or an empty vector.
std::vector<double> finite_numbers(const DicomElements& elements, std::uint32_t tag, std::size_t count) {
  const std::vector<double> values = elements.numbers(tag);
  const bool good = values.size() == count &&
                    std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  return good ? values : std::vector<double>();
}

[[noreturn]] void no_place(const fs::path& path, const char* what) {
  refuse_file(path,
              format("has no {}, so its position and left and right are unknown. Export the series again "
                     "with its geometry",
                     what));
}

// The row spacing, then the column spacing.
std::vector<double> spacing_of(const DicomElements& elements) {
  for (const std::uint32_t tag : {pixel_spacing, imager_spacing, scanned_spacing}) {
    const std::vector<double> spacing = finite_numbers(elements, tag, 2);
    if (!spacing.empty() && spacing[0] > 0 && spacing[1] > 0) return spacing;
  }
  return {1, 1};
}

Geometry geometry_of(const fs::path& path, const DicomElements& elements) {
  const std::vector<double> cosines = finite_numbers(elements, orientation, 6);
  if (cosines.empty()) no_place(path, "orientation (Image Orientation Patient)");
  const std::vector<double> origin = finite_numbers(elements, position, 3);
  if (origin.empty()) no_place(path, "position (Image Position Patient)");
  const double row_length = std::hypot(cosines[0], cosines[1], cosines[2]),
               column_length = std::hypot(cosines[3], cosines[4], cosines[5]);
  const double product = (cosines[0] * cosines[3] + cosines[1] * cosines[4] + cosines[2] * cosines[5]) /
                         row_length / column_length;
  if (!(std::fabs(row_length - 1) < 0.01 && std::fabs(column_length - 1) < 0.01 && std::fabs(product) < 0.01))
    refuse_file(path, "is damaged: its row and column directions are not at right angles");
  const std::vector<double> spacing = spacing_of(elements);
  Geometry geometry;
  geometry.size = {elements.number(column_count, 0), elements.number(row_count, 0), 1};
  geometry.spacing = {spacing[1], spacing[0], 1};
  for (std::size_t row = 0; row < 3; ++row) {
    geometry.origin[row] = origin[row];
    geometry.direction[row * 3] = cosines[row];
    geometry.direction[row * 3 + 1] = cosines[3 + row];
    const std::size_t a = (row + 1) % 3, b = (row + 2) % 3;
    geometry.direction[row * 3 + 2] = cosines[a] * cosines[3 + b] - cosines[b] * cosines[3 + a];
  }
  return geometry;
}

}  // namespace

void refuse_file(const fs::path& path, const std::string& why) {
  fail(Exit::bad_data, "{}: {}", path.string(), why);
}

DicomSlice open_slice(const fs::path& path) {
  DicomSlice slice;
  slice.path = path;
  slice.elements = read_elements(path);
  check_kind(path, slice.elements);
  slice.element = element_of(path, slice.elements);
  slice.bits =
      static_cast<int>(slice.elements.number(bits_stored, slice.elements.number(bits_allocated, 16)));
  slice.shift = static_cast<int>(slice.elements.number(high_bit, slice.bits - 1)) - slice.bits + 1;
  check_pixels(path, slice.elements, slice.element);
  slice.geometry = geometry_of(path, slice.elements);
  return slice;
}

std::string element_text(const fs::path& path, std::uint32_t tag) {
  return read_elements_up_to(path, tag).text(tag);
}

}  // namespace voxswap::data
