// File names and messages of image formats, shared by reading and writing.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace voxswap::data {

enum class ImageFormat { nifti, nrrd, meta_image };

// The extension of an image format; the only list of them.
struct ImageExtension {
  std::string_view text;  // ".nii.gz"
  ImageFormat format;
  bool written;   // by write_image() and similar functions
  bool detached;  // the voxels are in a separate file
};
std::span<const ImageExtension> image_extensions();
// The extension of a file name, case-insensitive; null for other names.
const ImageExtension* image_extension(const fs::path& path);
// For messages: ".nii.gz, .nii, .nrrd"
std::string image_extensions_text(bool (*which)(const ImageExtension& extension));

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions);
bool is_nifti(const fs::path& path);
bool is_raw_image(const fs::path& path);  // NRRD and MetaImage
bool is_raster(const fs::path& path);     // PNG, TIFF and JPEG: 2D images

// The name without the extension of a NIfTI, NRRD or MetaImage file; empty for other files.
std::string image_stem(const std::string& name);
// The same for PNG, TIFF and JPEG.
std::string raster_stem(const std::string& name);
std::string raster_extensions_text();  // ".png, .tif, …"

// The message of an ITK exception in one line, without its prefix ("ITK ERROR: NiftiImageIO(0x55…): …").
std::string plain_message(std::string text);

}  // namespace voxswap::data
