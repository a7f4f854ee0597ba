// Records all messages with times in a file, including those hidden by --quiet.
#pragma once

#include <string>

#include "base/file.h"

namespace voxswap::log {

// Starts recording: buffers `title` (not shown elsewhere) and all messages until record_to() sets a file.
// Discards earlier messages and closes an earlier file.
void begin_record(const std::string& title);

// Appends the buffered messages and all later ones to `file`. Throws Exit::failed if it cannot be opened. If
// the disk fills up later, recording stops but the run continues.
void record_to(const fs::path& file);

}  // namespace voxswap::log
