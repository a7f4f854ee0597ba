// The side of voxswap-decode: runs decoders, with limits for each file.
#pragma once

namespace voxswap::data {

// Answers what comes through standard input, a socket, until that is closed.
void serve_decoders();

}  // namespace voxswap::data
