// Text: numbers with the noun that they count, fmt's format under the project's name, and the few string
// helpers that several rooms need.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voxswap {

// `noun` in the singular, with its adjectives: counted(2, "validation case") is "2 validation cases". Its
// last word gets the plural by the rules of English, with those exceptions that the program's words need.
std::string counted(std::int64_t count, std::string_view noun);

using fmt::format;

std::vector<std::string> split(std::string_view text, char separator);
std::string trim(std::string_view text);
std::string lower(std::string_view text);
bool is_among(const std::string& word, const std::vector<std::string>& words);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string snake_case(std::string_view text);  // "Non-enhancing tumor" -> "non_enhancing_tumor"
bool ends_with(std::string_view text, std::string_view suffix);

// The candidate with the smallest edit distance to `word`; empty when none is near enough to be a likely
// slip.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Bytes of the character that begins `text`, which is not empty; 0 where none does (RFC 3629: no overlong
// forms, no surrogates).
std::size_t utf8_bytes(std::string_view text);
bool is_utf8(std::string_view text);

// As it may be shown on a terminal, which would otherwise obey a file's name: control characters and bytes
// that are not UTF-8 as \x1b, line feeds and tabs as they are.
std::string printable(std::string_view text);

// A table for a terminal: columns padded to their widest cell, numbers right-aligned, first row is the
// header. Cells are printable() and have one line.
std::string table(const std::vector<std::vector<std::string>>& rows);

// The shortest decimal text that reads back as the same number; "nan", "inf", "-inf" otherwise.
std::string number(double value);

}  // namespace voxswap
