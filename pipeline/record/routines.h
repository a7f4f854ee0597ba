// Which routines compute a run's convolutions, where a device chooses them by their time (a GPU does). Two
// that are both the same every time need not give the same bits, so the choice belongs to a run: it lies in
// its folder as routines.txt and in its checkpoints, and a run that is resumed takes the same again. Runs
// that share a cache (data.cache) share their choices, too: a run that is made again is the same run.
#pragma once

#include <map>
#include <string>

#include "net/backends/backend.h"
#include "pipeline/cases/options.h"

namespace voxswap::pipeline {

// What a backend is to take before it compiles: of the run, where it goes on with one or predicts with it,
// and then of the cache. Warns where it cannot take what the run had. `together`: all ranks call it and take
// what the first one finds.
void take_routines(net::Backend& backend, const RunOptions& options, bool of_the_run, bool together);
// Ranks compute alike: for each routine that several have chosen, all take that of the first of these ranks,
// and every rank knows all of them. All call it when they have compiled. True: this rank has to compile
// again.
bool agree_on_routines(net::Backend& backend, net::Ranks& ranks);
// What it has chosen since is put into the cache.
void remember_routines(const net::Backend& backend, const RunOptions& options);

void write_routines(const net::Backend& backend, const RunOptions& options);  // into the run's folder
// As metadata of its checkpoints; nothing where nothing is chosen.
std::map<std::string, std::string> routines_metadata(const net::Backend& backend);

}  // namespace voxswap::pipeline
