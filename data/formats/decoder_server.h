// The server side in voxswap-decode: runs decoders, with limits per file.
#pragma once

namespace voxswap::data {

// Answers requests from standard input, a socket, until it is closed.
void serve_decoders();

}  // namespace voxswap::data
