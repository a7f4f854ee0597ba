// Numbers with the noun that they count: "1 case", "2 cases".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace voxswap {

// `noun` in the singular, with its adjectives: counted(2, "validation case") is "2 validation cases". Its
// last word gets the plural by the rules of English, with those exceptions that the program's words need.
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace voxswap
