// Which instructions the convolutions here are compiled for, and which of them this processor has.
#pragma once

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

}  // namespace voxswap::net::convolution
