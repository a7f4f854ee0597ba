// The experiment file as a JSON Schema (draft 7) for completion and validation in editors, generated from the
// table of keys.
#pragma once

#include "base/json.h"

namespace voxswap::experiments {

// Everything that the schema rejects is also rejected by the reader. It does not cover rules between keys
// (rules.h), paths or the data.
Json schema();

}  // namespace voxswap::experiments
