// Records which routines compute a run's convolutions on devices that choose them by measured time (GPUs).
// Two deterministic routines may still round differently, so the choice belongs to the run: it is stored in
// its folder as routines.txt and in its checkpoints, and reused on resume. Runs that share a cache
// (data.cache) share choices, too, so that a repeated run gives identical results.
#pragma once

#include <map>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/ranks.h"
#include "pipeline/cases/experiment.h"

namespace voxswap::pipeline {

// Loads choices into a backend before it compiles: first those of the run if it is resumed or used for
// prediction, then those of the cache. Warns if the backend cannot use the run's choices. Collective: rank 0
// reads and broadcasts.
void take_routines(net::Backend& backend, const Experiment& experiment, bool of_the_run,
                   net::Ranks& ranks = net::alone());
// Collective, after compilation: all ranks adopt the same routines; if choices differ, those of the lowest
// rank. Returns true if this rank has to recompile.
bool agree_on_routines(net::Backend& backend, net::Ranks& ranks);
// Adds new choices of the backend to the cache.
void remember_routines(const net::Backend& backend, const Experiment& experiment);

void write_routines(const net::Backend& backend, const Experiment& experiment);  // into the run's folder
// Metadata for the run's checkpoints; empty if nothing was chosen.
std::map<std::string, std::string> routines_metadata(const net::Backend& backend);

}  // namespace voxswap::pipeline
