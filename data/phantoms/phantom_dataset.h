// Phantoms written as real data sets, in any of phantom_layouts.h's arrangements.
#pragma once

#include "data/phantoms/phantom_layouts.h"

namespace voxswap::data {

// Writes `cases` of them. Already complete data sets of the same options are left alone (and said so: returns
// false); phantoms of other options that an earlier call wrote there are replaced; any other file is never
// overwritten.
bool write_phantoms(const PhantomOptions& options);

}  // namespace voxswap::data
