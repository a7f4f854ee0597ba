#include "base/xml.h"

#include <algorithm>

namespace voxswap {

namespace {

constexpr const char* replacement = "\uFFFD";

unsigned byte(char c) {
  return static_cast<unsigned char>(c);
}

// Bytes of the character that begins `text`; 0 where none does (RFC 3629: no overlong forms, no surrogates).
std::size_t character_bytes(std::string_view text) {
  const unsigned first = byte(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  const auto continues = [](char c) { return (byte(c) & 0xC0) == 0x80; };
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues)) return 0;
  const unsigned second = byte(text[1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : size;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    const bool control = size == 1 && (byte(text[0]) < 32 || text[0] == 127);
    if (size == 0 || character == "\uFFFE" || character == "\uFFFF") {
      result += replacement;
    } else if (control && text[0] != '\n' && text[0] != '\t') {
      result += ' ';
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace voxswap
