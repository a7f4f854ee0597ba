// Runs the program as one of several ranks: controls which rank prints messages and how all end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cli/commands.h"
#include "net/collective/ranks.h"

namespace voxswap::cli {

// Called first in main(). If the launcher did not bind the ranks on a machine to cores, binds this rank to
// its share (a single thread if there are more ranks than cores) and restarts, so that all libraries see the
// binding. Skipped if OMP_NUM_THREADS is set; a sweep binds its cells instead.
void take_cores(char** values);

// Called before any command. With several ranks, silences all but the first, including standard output.
// Throws Exit::usage for a command that does not support ranks, or if command lines differ.
void join_ranks(const Arguments& arguments);

// Warns if the launcher bound several ranks to the same cores. Called after all have joined.
void warn_of_shared_cores(net::Ranks& ranks);

bool is_silent_rank();  // one of several ranks, but not the first

// Called before an error is reported, so that only one rank reports it: other ranks wait for the first, which
// usually has the same error and ends all. False: the launcher has ended all ranks in the meantime.
bool let_first_rank_speak();
std::string of_rank();  // "rank 3: " for other ranks than the first, a prefix of error messages

// Collective. The ranks for `voxswap info`: machine, device, latency and rate to the first rank. Returns the
// list on all ranks.
Json rank_list(net::Ranks& ranks);

// One line per rank: "rank 1", "node7, cores 8-15, oneDNN ..., 30.1 GiB of memory; 11.2 GB/s to rank 0, 2
// us".
std::vector<std::pair<std::string, std::string>> rank_lines(const Json& list);

}  // namespace voxswap::cli
