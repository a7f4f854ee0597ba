#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

namespace voxswap {

namespace {

std::string plural(std::string_view noun) {
  const std::string word(noun);
  if (noun.ends_with("series")) return word;
  if (noun.ends_with("axis")) return word.substr(0, word.size() - 2) + "es";
  if (noun.ends_with("s") || noun.ends_with("x") || (noun.ends_with("ch") && !noun.ends_with("epoch")))
    return word + "es";
  if (noun.ends_with("y") && !noun.ends_with("ay") && !noun.ends_with("ey"))
    return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

}  // namespace

std::string counted(std::int64_t count, std::string_view noun) {
  return format("{} {}", count, count == 1 ? std::string(noun) : plural(noun));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::string trim(std::string_view text) {
  const char* blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_among(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

std::string snake_case(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix);
}

namespace {

unsigned byte(char c) {
  return static_cast<unsigned char>(c);
}

}  // namespace

std::size_t utf8_bytes(std::string_view text) {
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

namespace {

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = utf8_bytes(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    // Control characters: up to U+001F, and from U+007F to U+009F.
    const bool control = size == 1
                             ? (byte(text[0]) < 0x20 && kept.find(text[0]) == kept.npos) || text[0] == 0x7F
                             : size == 2 && byte(text[0]) == 0xC2 && byte(text[1]) < 0xA0;
    if (size == 0 || control)
      for (const char c : character) result += format("\\x{:02x}", byte(c));
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "\n\t");
}

namespace {

// Levenshtein distance, one row at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

bool looks_numeric(std::string_view cell) {
  return !cell.empty() &&
         (std::isdigit(static_cast<unsigned char>(cell[0])) || cell == "nan" || cell == "-" ||
          (cell.size() > 1 && (cell[0] == '-' || cell[0] == '+') &&
           std::isdigit(static_cast<unsigned char>(cell[1]))));
}

// Width on the screen: UTF-8 continuation bytes have no width.
size_t display_width(std::string_view cell) {
  return static_cast<size_t>(std::count_if(
      cell.begin(), cell.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

namespace {

// True if more than half of its cells are numbers.
bool is_numeric_column(const std::vector<std::vector<std::string>>& rows, size_t column) {
  size_t numbers = 0, cells = 0;
  for (size_t r = 1; r < rows.size(); ++r) {
    if (column >= rows[r].size() || rows[r][column].empty()) continue;
    ++cells;
    numbers += looks_numeric(rows[r][column]) ? 1 : 0;
  }
  return 2 * numbers > cells;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::vector<std::string>> rows = cells;
  for (auto& row : rows)
    for (std::string& cell : row) cell = escaped(cell, "");
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<bool> right(widths.size());
  for (size_t i = 0; i < widths.size(); ++i) right[i] = is_numeric_column(rows, i);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - display_width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (right[i] ? gap + row[i] : row[i] + gap);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string wrapped(std::string_view paragraph, std::size_t width, std::size_t indent) {
  std::string text;
  std::size_t column = indent;
  for (const std::string& word : split(paragraph, ' ')) {
    const bool first = column == indent, fits = first || column + 1 + word.size() <= width;
    text += (first ? "" : fits ? " " : "\n" + std::string(indent, ' ')) + word;
    column = (fits ? column + (first ? 0 : 1) : indent) + word.size();
  }
  return text;
}

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[400];
  // Plain decimals if readable, otherwise scientific notation.
  const double size = std::fabs(value);
  const auto style =
      size != 0 && (size < 1e-7 || size >= 1e17) ? std::chars_format::scientific : std::chars_format::fixed;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, style);
  return std::string(buffer, end);
}

}  // namespace voxswap
