// Instruction sets for which the convolutions are compiled, and the ones that this processor has.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net::convolution {

// `portable` is plain C++ for any processor. avx512_bf16, amx and emulated_amx multiply bf16 only.
// emulated_amx emulates amx, slowly, on any processor, for tests.
enum class Instructions { portable, avx2, avx512, avx512_bf16, amx, emulated_amx };

std::string_view instructions_name(Instructions instructions);

// Whether it uses tile products (sizes.h).
constexpr bool is_of_tiles(Instructions instructions) {
  return instructions == Instructions::amx || instructions == Instructions::emulated_amx;
}

// Instruction sets of this processor for the type, the fastest last; without emulated ones.
std::vector<Instructions> instructions_for(ElementType type);

// The instruction set to use: the fastest, or the value of the environment variable VOXSWAP_CONVOLUTIONS (one
// of the names above; for f32 a bf16-only name means avx512). Nullopt if it is `library`. Throws Exit::usage
// for an unknown name or a missing instruction set.
std::optional<Instructions> chosen_instructions(ElementType type);

// The compiled variants. Each has f32 and bf16, the last ones only bf16. Processors other than x86 have only
// the portable and the emulated one, and some entries have no variant for tiles.
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
