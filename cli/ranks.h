// The program as one of several ranks: which rank prints messages, and how all end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cli/commands.h"
#include "net/collective/ranks.h"

namespace voxswap::cli {

// Before anything else: where the launcher left all cores of a machine to each of its ranks, this one takes
// its part of them, or one thread where ranks are more than cores, and begins again so that every library
// finds as many. Unless OMP_NUM_THREADS says otherwise; a sweep gives them to its cells instead.
void take_cores(char** values);

// Before any command. Where several ranks were launched, all but the first keep silent from now on, on
// standard output whatever they are asked. Throws Exit::usage for a command that several cannot share, and
// where their command lines differ.
void join_ranks(const Arguments& arguments);

// Once all have joined: tells of cores that the launcher bound several ranks to.
void warn_of_shared_cores(net::Ranks& ranks);

bool is_silent_rank();  // one of several, and not the first

// Before an error is told. A rank that is not the first lets the first speak, which usually has met the same
// one, and ends all; so one of them tells it. False: the launcher ended all ranks meanwhile.
bool let_first_rank_speak();
std::string of_rank();  // "rank 3: " where it is not the first, to be said before an error

// The ranks in `voxswap info`: machine, device, and latency and rate to the first.
// All ranks call this; each gets the list of all.
Json rank_list(net::Ranks& ranks);

// A line for each: "rank 1", "node7, cores 8-15, oneDNN ..., 30.1 GiB of memory; 11.2 GB/s to rank 0, 2 us".
std::vector<std::pair<std::string, std::string>> rank_lines(const Json& list);

}  // namespace voxswap::cli
