#include "data/placeholders.h"

#include <array>
#include <fstream>
#include <string_view>

#include "base/text.h"

namespace voxswap {

namespace fs = std::filesystem;

std::string placeholder_at(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(path, error) && !fs::exists(path, error)) {
    const std::string target = fs::read_symlink(path, error).string();
    const bool annexed = target.find("/annex/objects/") != std::string::npos;
    return format("a link to {}, which is not there{}", target,
                  annexed ? "; `git annex get` or `datalad get` fetches it" : "");
  }
  constexpr std::uintmax_t longest = 1024;  // of a pointer; images are longer
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > longest || error) return {};
  std::array<char, 64> bytes{};
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  const std::string_view begin(bytes.data(), static_cast<std::size_t>(stream.gcount()));
  if (begin.starts_with("version https://git-lfs.github.com/spec/"))
    return "a Git LFS pointer, not the file itself; `git lfs pull` fetches it";
  if (begin.starts_with("/annex/objects/"))
    return "a git-annex pointer, not the file itself; `git annex get` fetches it";
  return {};
}

}  // namespace voxswap
