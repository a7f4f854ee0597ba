// A file that records all messages with times, also those that --quiet hides.
#pragma once

#include <string>

#include "base/file.h"

namespace voxswap::log {

// From here on messages are kept until there is a file for them, behind `title`, which is not said elsewhere.
// Those of before are forgotten, a file that was written to is let go of.
void begin_record(const std::string& title);

// What was kept since begin_record(), and everything from now on, is added to the end of `file`. Throws
// Exit::failed when it cannot be opened. A disk that fills later costs the record, not the run.
void record_to(const fs::path& file);

}  // namespace voxswap::log
