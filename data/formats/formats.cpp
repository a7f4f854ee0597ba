#include "data/formats/formats.h"

#include <algorithm>

#include "base/text.h"

namespace voxswap {

namespace fs = std::filesystem;

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  const std::string name = lower(path.filename().string());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](auto extension) { return ends_with(name, extension); });
}

std::string image_stem(const std::string& name) {
  for (const std::string_view extension : {".nii.gz", ".nii", ".nrrd", ".nhdr", ".mha", ".mhd"}) {
    if (name.size() > extension.size() && ends_with(lower(name), extension))
      return name.substr(0, name.size() - extension.size());
  }
  return {};
}

bool is_nifti(const fs::path& path) {
  return has_extension(path, {".nii", ".nii.gz"});
}

bool is_raw_image(const fs::path& path) {
  return has_extension(path, {".nrrd", ".nhdr", ".mha", ".mhd"});
}

std::string plain_message(std::string text) {
  const auto at = text.find("): ");
  if (text.starts_with("ITK ERROR") && at != std::string::npos) text = text.substr(at + 3);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return trim(text);
}

}  // namespace voxswap
