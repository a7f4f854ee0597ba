#include "base/xml.h"

#include <algorithm>

#include "base/text.h"

namespace voxswap {

namespace {

constexpr const char* replacement = "\uFFFD";

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = utf8_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    const bool control = size == 1 && (static_cast<unsigned char>(text[0]) < 32 || text[0] == 127);
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
