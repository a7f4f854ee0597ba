// Chooses the reader of the format and applies the same rules to every file.
#include "data/formats/image_io.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/decoder_process.h"
#include "data/formats/dicom.h"
#include "data/formats/formats.h"
#include "data/formats/nifti_voxels.h"
#include "data/formats/placeholders.h"
#include "data/formats/raw_voxels.h"

namespace voxswap::data {

namespace {

struct Format {
  bool (*is)(const fs::path& path);
  ImageHeader (*header)(const fs::path& path);
  std::vector<Image> (*volumes)(const fs::path& path, const ChooseVolumes& choose);
};

const Format nifti{is_nifti, nifti_header, nifti_volumes};
const Format raw_image{is_raw_image, raw_header, raw_volumes};
const Format raster{is_raster, decoded_header, decoded_volumes};
const Format dicom{is_dicom_folder, dicom_header, dicom_volumes};

const Format& format_of(const fs::path& path) {
  error_code ignored;
  if (const std::string placeholder = placeholder_at(path); !placeholder.empty())
    fail(Exit::bad_data, "{}: {}", path.string(), placeholder);
  if (!fs::exists(path, ignored)) fail(Exit::bad_data, "{}: no such file", path.string());
  if (fs::is_directory(path, ignored)) {
    if (dicom.is(path)) return dicom;
    fail(Exit::bad_data, "{}: is a folder without DICOM slices, not an image", path.string());
  }
  // Opening a named pipe would block until another process writes to it.
  if (!fs::is_regular_file(path, ignored))
    fail(Exit::bad_data, "{}: is not a file (a pipe or a device)", path.string());
  for (const Format* format : {&nifti, &raw_image, &raster}) {
    if (format->is(path)) return *format;
  }
  fail(Exit::bad_data, "{}: unknown image format. Known are {}, {} and folders of DICOM slices",
       path.string(), image_extensions_text([](const ImageExtension&) { return true; }),
       raster_extensions_text());
}

}  // namespace

ImageHeader read_header(const fs::path& path) {
  return format_of(path).header(path);
}

std::vector<Image> read_images(const fs::path& path, const CheckVolumes& check) {
  return format_of(path).volumes(path, [&](const ImageHeader& header) {
    if (check) check(header.volumes);
    return VolumeRange{0, header.volumes};
  });
}

Image read_image(const fs::path& path, int component, const CheckVolumes& check) {
  const auto choose = [&](const ImageHeader& header) {
    const std::int64_t volumes = header.volumes;
    if (check) check(volumes);
    if (component < 0 && volumes != 1)
      fail(Exit::bad_data, "{}: holds {}. Expected one 3D image", path.string(), counted(volumes, "volume"));
    if (component >= volumes)
      fail(Exit::bad_data, "{}: holds {}, but number {} (counted from 0) is needed", path.string(),
           counted(volumes, "volume"), component);
    return VolumeRange{std::max(component, 0), 1};
  };
  return std::move(format_of(path).volumes(path, choose).front());
}

LabelMap read_label_map(const fs::path& path) {
  const Image image = &format_of(path) == &raster ? decoded_labels(path) : read_image(path);
  LabelMap labels;
  labels.geometry = image.geometry;
  labels.voxels.resize(image.voxels.size());
  float previous = 0;  // runs of equal values are long
  std::int16_t label = 0;
  for (std::size_t i = 0; i < image.voxels.size(); ++i) {
    const float value = image.voxels[i];
    if (value != previous) {
      const float whole = std::round(value);
      if (!(std::fabs(value - whole) <= 1e-3F) || whole < 0 ||
          whole > std::numeric_limits<std::int16_t>::max()) {
        fail(Exit::bad_data,
             "{}: voxel value {} is not a label. A label map holds small whole numbers; this may be an image",
             path.string(), number(value));
      }
      label = static_cast<std::int16_t>(whole);
      previous = value;
    }
    labels.voxels[i] = label;
  }
  return labels;
}

}  // namespace voxswap::data
