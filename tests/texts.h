// Texts of characters that parsers treat specially, and of any others, for tests of properties.
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace voxswap::test {

// The same values in every run; RC_PARAMS=seed=N tests others.
inline const int seed_is_fixed = ::setenv("RC_PARAMS", "seed=1", /*overwrite=*/0);

inline rc::Gen<std::string> any_text() {
  const auto character = rc::gen::weightedOneOf<std::string>(
      {{6, rc::gen::map(rc::gen::elementOf(std::string("\"'\\,;:=+-@#&*!|>%`~?{}[]<> \t\n\r.0aN")),
                        [](char c) { return std::string(1, c); })},
       {2, rc::gen::map(rc::gen::inRange(0x20, 0x7f),
                        [](int c) { return std::string(1, static_cast<char>(c)); })},
       {1, rc::gen::element<std::string>("\x01", "\x1b", "\x7f", "\u0085", "\u00e9", "\u2028", "\ufeff",
                                         "\U0001f9e0")}});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character), [](const auto& characters) {
    std::string text;
    for (const std::string& one : characters) text += one;
    return text;
  });
}

}  // namespace voxswap::test
