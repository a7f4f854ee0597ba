#include "data/layouts/folders.h"

#include <algorithm>

#include "base/filesystem.h"
#include "base/text.h"
#include "data/formats/formats.h"

namespace voxswap::data {

std::string folder_name(const fs::path& folder) {
  return plain(fs::absolute(folder)).filename().string();
}

bool fits_pattern(const std::string& text, const std::string& pattern) {
  const std::string word = lower(text), wanted = lower(pattern);
  std::size_t at = 0, star = std::string::npos, retry = 0, i = 0;
  while (i < word.size()) {
    if (at < wanted.size() && (wanted[at] == '?' || (wanted[at] == word[i] && wanted[at] != '*'))) {
      ++at, ++i;
    } else if (at < wanted.size() && wanted[at] == '*') {
      star = at++;
      retry = i;
    } else if (star != std::string::npos) {  // the last star takes one character more
      at = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  return wanted.find_first_not_of('*', at) == std::string::npos;
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(".")) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path nifti_file(const fs::path& folder, const std::string& stem) {
  error_code ignored;
  const fs::path packed = folder / (stem + ".nii.gz"), plain = folder / (stem + ".nii");
  const auto is_there = [&](const fs::path& path) {
    return fs::exists(path, ignored) || fs::is_symlink(path, ignored);  // a link to what was not fetched
  };
  return !is_there(packed) && is_there(plain) ? plain : packed;
}

std::string nifti_stem(const std::string& name) {
  for (const ImageExtension& extension : image_extensions()) {
    if (extension.format != ImageFormat::nifti || name.size() <= extension.text.size()) continue;
    if (ends_with(name, extension.text)) return name.substr(0, name.size() - extension.text.size());
  }
  return {};
}

}  // namespace voxswap::data
