// Text from outside for pictures and pages: made valid UTF-8 that XML allows.
#pragma once

#include <string>
#include <string_view>

namespace voxswap {

// The text with U+FFFD for every byte that belongs to no character, and a space for every control character
// but line feeds and tabs: XML knows no others.
std::string as_utf8(std::string_view text);

// The same with characters for entities where they would be markup: for content and attributes, of XML and
// HTML.
std::string xml_escaped(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace voxswap
