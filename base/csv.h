// Comma-separated tables as RFC 4180 defines them, with a header line; lines end in \n on writing, \r\n is
// read too.
//
// A spreadsheet takes a field that begins with = + - @, a tab or a carriage return for a formula, which can
// call programs. Unless it is a number, an apostrophe is written before it, and taken away on reading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace voxswap {

// A column and what it holds, with its unit: for the header and for the reference pages.
struct CsvColumn {
  std::string name, meaning;
};

// The names.
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
void write_csv(const fs::path& path, const Csv& csv);  // whole, renamed into place

}  // namespace voxswap
