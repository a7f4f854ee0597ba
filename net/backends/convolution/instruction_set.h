// Which instructions the convolutions here are compiled for, and which of them this processor has.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net::convolution {

// `portable` is what the compiler makes of plain C++ for any processor. avx512_bf16, amx and emulated_amx
// multiply bf16 alone; the last does slowly what the one before it does, on any processor, for the suite.
enum class Instructions { portable, avx2, avx512, avx512_bf16, amx, emulated_amx };

std::string_view instructions_name(Instructions instructions);

// Whether it multiplies tiles (tiles.h).
constexpr bool is_of_tiles(Instructions instructions) {
  return instructions == Instructions::amx || instructions == Instructions::emulated_amx;
}

// Those that this processor has and that compute with the type, the fastest last; no emulated ones.
std::vector<Instructions> instructions_for(ElementType type);

// Those to use: the fastest but amx, which no such processor has measured yet, or what VOXSWAP_CONVOLUTIONS
// in the environment says: a name of the above, for f32 avx512 where that is of bf16 alone. Nothing where it
// says `library`. Throws Exit::usage for what is no such name, or not on this processor.
std::optional<Instructions> chosen_instructions(ElementType type);
bool are_instructions_forced();  // by that variable

// What was compiled for each: of f32 and of bf16, the last ones of bf16 alone. Elsewhere than on x86 there
// are the first and the emulated one, and there need be none of tiles.
template <class T>
struct OfInstructions {
  const T *portable, *emulated_amx = nullptr;
  const T *avx2 = nullptr, *avx512 = nullptr, *avx512_bf16 = nullptr, *amx = nullptr;

  const T& of(Instructions instructions, ElementType type) const {
    const std::size_t of_type = type == ElementType::bf16 ? 1 : 0;
    switch (instructions) {
      case Instructions::portable:
        break;
      case Instructions::avx2:
        return avx2[of_type];
      case Instructions::avx512:
        return avx512[of_type];
      case Instructions::avx512_bf16:
        return *avx512_bf16;
      case Instructions::amx:
        return *amx;
      case Instructions::emulated_amx:
        return *emulated_amx;
    }
    return portable[of_type];
  }
};

}  // namespace voxswap::net::convolution
