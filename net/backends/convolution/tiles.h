// Tiles of Intel's AMX: eight registers of up to 16 rows of 64 bytes, and products of two tiles that are
// added to a third. Kernels are written once against a type with these functions, N, A, B and C being tile
// numbers:
//
//   configure(shapes)           sets the tiles' shapes; all become zero
//   zero<N>()
//   load<N>(from, stride)       reads exactly the bytes of each row, `stride` bytes from row to row
//   store<N>(to, stride)
//   multiply_add<C, A, B>()     C[m][n] += sum over k of A[m][2 k] B[k][2 n] + A[m][2 k + 1] B[k][2 n + 1]
//   release()                   the thread no longer needs tiles
//
// There are two such types: the processor's instructions (tiles_amx.h), and plain C++ with the same results
// for any processor (tiles_emulated.h). Plain data: code compiled for one instruction set must not be linked
// into another, so these have no inline functions.
#pragma once

#include <cstdint>

namespace voxswap::net::convolution {

constexpr int tile_rows = 16, tile_bytes = 64;  // at most
constexpr int tile_numbers = 32;                // bf16 of a row
constexpr int tile_lanes = 16;                  // f32 of a row

// What the instruction that configures tiles reads.
struct TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

}  // namespace voxswap::net::convolution
