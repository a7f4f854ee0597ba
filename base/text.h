// Text: counted nouns, fmt's format under the project's name, and string helpers used by several rooms.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voxswap {

// `noun` in the singular, with adjectives: counted(2, "validation case") is "2 validation cases". Knows the
// plurals of the program's words, regular or not.
std::string counted(std::int64_t count, std::string_view noun);

using fmt::format;

std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);
std::string lower(std::string_view text);
bool is_among(const std::string& word, const std::vector<std::string>& words);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string snake_case(std::string_view text);  // "Non-enhancing tumor" -> "non_enhancing_tumor"
bool ends_with(std::string_view text, std::string_view suffix);

// The candidate with the smallest edit distance to `word`; empty if none is similar enough to be a typing
// error.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Number of bytes of the first character of `text`, which must not be empty; 0 if invalid (RFC 3629: no
// overlong forms, no surrogates).
std::size_t utf8_bytes(std::string_view text);
bool is_utf8(std::string_view text);

// The words of a paragraph in lines of at most `width` bytes, as far as words are short enough. It begins at
// column `indent`, and its other lines do, too.
std::string wrapped(std::string_view paragraph, std::size_t width, std::size_t indent = 0);

// Makes text safe for a terminal, which would interpret control sequences in a file's name: control
// characters and bytes that are not UTF-8 become \x1b and the like; line feeds and tabs are kept.
std::string printable(std::string_view text);

// A table for a terminal: columns padded to their widest cell, numbers right-aligned, first row is the
// header. Cells are made printable() and fit on one line.
std::string table(const std::vector<std::vector<std::string>>& rows);

// The shortest decimal text that parses to the same number, or "nan", "inf", "-inf".
std::string number(double value);

}  // namespace voxswap
