// Did all of a file arrive? Image libraries fill what is missing with zeros and say nothing, or only warn: a
// truncated download would train the network on half a brain.
#pragma once

#include <filesystem>
#include <string>

namespace voxswap {

// Why the file cannot be whole, as the end of a sentence ("is truncated: …"); empty when nothing is missing.
// Looks at gzip streams to their end (length and checksum) and at the byte count that a NIfTI header
// promises.
std::string incomplete(const std::filesystem::path& path);

}  // namespace voxswap
