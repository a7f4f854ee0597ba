// Which instructions the convolutions here are compiled for, and which of them this processor has.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net::convolution {

// `portable` is what the compiler makes of plain C++ for any processor. avx512_bf16 multiplies bf16 alone.
enum class Instructions { portable, avx2, avx512, avx512_bf16 };

std::string_view instructions_name(Instructions instructions);

// Those that this processor has and that compute with the type, the fastest last.
std::vector<Instructions> instructions_for(ElementType type);

// Those to use: the fastest, or what VOXSWAP_CONVOLUTIONS in the environment says (a name of the above; of
// bf16, avx512 where that says avx512_bf16 and the type is f32). Nothing where it says `library`. Throws
// Exit::usage for what is no such name, or not on this processor.
std::optional<Instructions> chosen_instructions(ElementType type);
bool are_instructions_forced();  // by that variable

// What was compiled for each: of f32 and of bf16, the last of bf16 alone. Elsewhere than on x86 there is the
// first.
template <class T>
struct OfInstructions {
  const T* portable;
  const T *avx2 = nullptr, *avx512 = nullptr, *avx512_bf16 = nullptr;

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
    }
    return portable[of_type];
  }
};

}  // namespace voxswap::net::convolution
