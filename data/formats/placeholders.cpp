#include "data/formats/placeholders.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace voxswap::data {

std::string placeholder_at(const fs::path& path) {
  error_code error;
  if (fs::is_symlink(path, error) && !fs::exists(path, error)) {
    const std::string target = fs::read_symlink(path, error).string();
    const bool annexed = target.find("/annex/objects/") != std::string::npos;
    return format("a link to {}, which does not exist{}", target,
                  annexed ? "; `git annex get` or `datalad get` downloads it" : "");
  }
  constexpr std::uintmax_t longest = 1024;  // for a pointer; images are longer
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > longest || error) return {};
  std::string begin;
  try {
    begin = read_file(path, 64);
  } catch (const Error& trouble) {
    if (trouble.exit() != Exit::bad_data) throw;  // device failure or lack of memory
  }
  if (begin.starts_with("version https://git-lfs.github.com/spec/"))
    return "a Git LFS pointer, not the file itself; `git lfs pull` downloads it";
  if (begin.starts_with("/annex/objects/"))
    return "a git-annex pointer, not the file itself; `git annex get` downloads it";
  return {};
}

}  // namespace voxswap::data
