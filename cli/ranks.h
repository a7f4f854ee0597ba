// The program as one of several ranks: who may speak, and how all end.
#pragma once

#include "base/error.h"
#include "cli/commands.h"

namespace voxswap::cli {

// Before anything else. Where several ranks were launched, all but the first keep silent from now on, on
// standard output whatever they are asked. Throws Exit::usage for a command that several cannot share.
void join_ranks(const Arguments& arguments);

bool is_silent_rank();  // one of several, and not the first

// Before an error is told. A rank that is not the first lets the first speak, which usually has met the same
// one, and ends all; so one of them tells it.
void let_first_rank_speak();
std::string of_rank();  // "rank 3: " where it is not the first, to be said before an error

// Waits for the others after work that was done; otherwise ends them all.
void part_from_ranks(Exit exit);

}  // namespace voxswap::cli
