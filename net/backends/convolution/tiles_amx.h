// Tiles of the processor, in assembly: GCC's intrinsics do not tell the compiler which memory they read, so a
// store for a tile to load could be removed or delayed. Included only by sources compiled for AMX. REQUIRES:
// Linux lets the process use tiles (instruction_set.h).
#pragma once

#include "net/backends/convolution/sizes.h"

namespace voxswap::net::convolution {
namespace {

struct AmxTiles {
  static inline void configure(const TileShapes& shapes) {
    asm volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
  }
  template <int N>
  static inline __attribute__((always_inline)) void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(N));
  }
  template <int N>
  static inline __attribute__((always_inline)) void load(const void* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(N) : "memory");
  }
  template <int N>
  static inline __attribute__((always_inline)) void store(void* to, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(N) : "memory");
  }
  template <int C, int A, int B>
  static inline __attribute__((always_inline)) void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
  static inline void release() { asm volatile("tilerelease" : : : "memory"); }
};

}  // namespace
}  // namespace voxswap::net::convolution
