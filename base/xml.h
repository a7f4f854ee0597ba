// Makes external text valid UTF-8 and XML for pictures and pages.
#pragma once

#include <string>
#include <string_view>

namespace voxswap {

// Replaces invalid bytes by U+FFFD, and control characters except line feeds and tabs, which XML forbids, by
// spaces.
std::string as_utf8(std::string_view text);

// as_utf8() with markup characters replaced by entities: for content and attributes of XML and HTML.
std::string xml_escaped(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace voxswap
