#include "data/formats/formats.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace voxswap::data {

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  const std::string name = lower(path.filename().string());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](auto extension) { return ends_with(name, extension); });
}

namespace {

// Longer extensions before their suffixes.
constexpr std::array<ImageExtension, 6> extensions_of_images{{
    {".nii.gz", ImageFormat::nifti, true, false},
    {".nii", ImageFormat::nifti, true, false},
    {".nrrd", ImageFormat::nrrd, true, false},
    {".nhdr", ImageFormat::nrrd, false, true},
    {".mha", ImageFormat::meta_image, true, false},
    {".mhd", ImageFormat::meta_image, false, true},
}};

constexpr std::array<std::string_view, 5> extensions_of_rasters{".png", ".tif", ".tiff", ".jpg", ".jpeg"};

}  // namespace

std::span<const ImageExtension> image_extensions() {
  return extensions_of_images;
}

const ImageExtension* image_extension(const fs::path& path) {
  const auto found =
      std::find_if(extensions_of_images.begin(), extensions_of_images.end(),
                   [&](const ImageExtension& extension) { return has_extension(path, {extension.text}); });
  return found == extensions_of_images.end() ? nullptr : &*found;
}

std::string image_extensions_text(bool (*which)(const ImageExtension& extension)) {
  std::vector<std::string> texts;
  for (const ImageExtension& extension : extensions_of_images)
    if (which(extension)) texts.emplace_back(extension.text);
  return join(texts, ", ");
}

std::string image_stem(const std::string& name) {
  const ImageExtension* const extension = image_extension(name);
  return extension == nullptr ? std::string() : name.substr(0, name.size() - extension->text.size());
}

bool is_nifti(const fs::path& path) {
  const ImageExtension* const extension = image_extension(path);
  return extension != nullptr && extension->format == ImageFormat::nifti;
}

bool is_raw_image(const fs::path& path) {
  const ImageExtension* const extension = image_extension(path);
  return extension != nullptr && extension->format != ImageFormat::nifti;
}

bool is_raster(const fs::path& path) {
  return !raster_stem(path.filename().string()).empty();
}

std::string raster_stem(const std::string& name) {
  for (const std::string_view extension : extensions_of_rasters)
    if (name.size() > extension.size() && has_extension(name, {extension}))
      return name.substr(0, name.size() - extension.size());
  return {};
}

std::string raster_extensions_text() {
  return join({extensions_of_rasters.begin(), extensions_of_rasters.end()}, ", ");
}

std::string plain_message(std::string text) {
  const auto at = text.find("): ");
  if (text.starts_with("ITK ERROR") && at != std::string::npos) text = text.substr(at + 3);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return trim(text);
}

}  // namespace voxswap::data
