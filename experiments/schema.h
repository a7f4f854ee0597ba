// The experiment file as a JSON Schema (draft 7), for editors that complete and check it: made from the table
// of keys.
#pragma once

#include "base/json.h"

namespace voxswap::experiments {

// What it refuses the reader refuses too. What hangs on several keys (rules.h), on paths or on the data it
// does not know.
Json schema();

}  // namespace voxswap::experiments
