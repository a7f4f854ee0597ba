// Comma-separated tables as in RFC 4180, with a header line. Lines end in \n; \r\n is also accepted.
//
// Spreadsheets interpret a field that begins with = + - @, a tab or a carriage return as a formula, which can
// call programs. Unless the field is a number, an apostrophe is written before it and removed on reading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace voxswap {

// A column: its name and its meaning with unit, for the header and the reference pages.
struct CsvColumn {
  std::string name, meaning;
};

// The names of the columns.
std::vector<std::string> header_of(const std::vector<CsvColumn>& columns);

struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // Index of a column; throws Exit::bad_data naming `where` when it is missing.
  size_t column(std::string_view name, std::string_view where) const;
};

Csv parse_csv(std::string_view text, std::string_view where);  // throws Exit::bad_data with the line number
Csv read_csv(const fs::path& path);
std::string csv_text(const Csv& csv);
void write_csv(const fs::path& path, const Csv& csv);  // written completely, then renamed

}  // namespace voxswap
