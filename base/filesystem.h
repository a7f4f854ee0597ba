// The file system: Boost.Filesystem under the name `fs`, which the whole project uses.
//
// Unlike std::filesystem, Boost 1.74 puts an absolute path behind a folder instead of in its place, and ends
// the normal form of "a/" in a dot. Paths that a user or a file gave therefore go through the two functions
// below.
#pragma once

#include <boost/filesystem.hpp>
#include <boost/filesystem/fstream.hpp>
#include <boost/system/error_code.hpp>

namespace voxswap {

namespace fs = boost::filesystem;
using boost::system::error_code;

// `path` as seen from `folder`: an absolute path stands as it is.
fs::path seen_from(const fs::path& folder, const fs::path& path);

// Without `.`, `..` and a separator at the end: of two paths that are spelt differently but lead the same
// way, without a look at the disk, the same one.
fs::path plain(const fs::path& path);

}  // namespace voxswap
