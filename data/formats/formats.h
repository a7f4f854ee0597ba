// File names and messages of image formats, shared by reading and writing.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace voxswap::data {

enum class ImageFormat { nifti, nrrd, meta_image };

// An extension that tells an image: the one list of them.
struct ImageExtension {
  std::string_view text;  // ".nii.gz"
  ImageFormat format;
  bool written;   // by write_image() and its like
  bool detached;  // the voxels lie in a file beside it
};
std::span<const ImageExtension> image_extensions();
// That of a file's name, in upper or lower case; null where it has none of them.
const ImageExtension* image_extension(const fs::path& path);
// For messages: ".nii.gz, .nii, .nrrd"
std::string image_extensions_text(bool (*which)(const ImageExtension& extension));

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions);
bool is_nifti(const fs::path& path);
bool is_raw_image(const fs::path& path);  // NRRD and MetaImage
bool is_raster(const fs::path& path);     // PNG, TIFF and JPEG: pictures of one plane

// The name without its extension when it is that of a NIfTI, NRRD or MetaImage file; else empty.
std::string image_stem(const std::string& name);
// Likewise of a PNG, TIFF or JPEG file.
std::string raster_stem(const std::string& name);
std::string raster_extensions_text();  // ".png, .tif, …"

// What an exception of ITK says, without its decoration ("ITK ERROR: NiftiImageIO(0x55…): …") and in one
// line.
std::string plain_message(std::string text);

}  // namespace voxswap::data
