#include "base/csv.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"

namespace voxswap {

std::vector<std::string> header_of(const std::vector<CsvColumn>& columns) {
  std::vector<std::string> names;
  for (const CsvColumn& column : columns) names.push_back(column.name);
  return names;
}

size_t Csv::column(std::string_view name, std::string_view where) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    fail(Exit::bad_data, "{}: has no column '{}'. Its columns are {}", where, name, join(header, ", "));
  }
  return static_cast<size_t>(found - header.begin());
}

namespace {

// "-0.5;0.25", as in boxplot.csv: no formula in any spreadsheet.
bool is_list_of_numbers(std::string_view field) {
  return std::ranges::all_of(split(field, ';'),
                             [](const std::string& part) { return parse_number<double>(part).has_value(); });
}

// Also true after leading apostrophes, so that an apostrophe in the data is not removed on reading.
bool looks_like_formula(std::string_view field) {
  const std::size_t begin = field.find_first_not_of('\'');
  return begin != field.npos && std::string_view("=+-@\t\r").find(field[begin]) != std::string_view::npos &&
         field != "-" && !is_list_of_numbers(field);
}

std::string written(const std::string& field) {
  const std::string text = looks_like_formula(field) ? "'" + field : field;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = text;
  replace_all(quoted, "\"", "\"\"");
  return "\"" + quoted + "\"";
}

}  // namespace

Csv parse_csv(std::string_view text, std::string_view where) {
  if (!is_utf8(text)) fail(Exit::bad_data, "{}: is not UTF-8. Save it in that encoding", where);
  std::vector<std::vector<std::string>> records(1);
  std::string field;
  bool quoted = false, any = false;  // any: the record has at least one character
  int line = 1, opened = 0;
  const auto end_field = [&] {
    const bool marked = field.starts_with('\'') && looks_like_formula(field);
    records.back().push_back(marked ? field.substr(1) : std::move(field));
    field.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && field.empty()) {
      quoted = any = true;
      opened = line;
    } else if (c == ',') {
      end_field();
      any = true;
    } else if (c == '\n') {
      if (any || !field.empty()) {
        end_field();
        records.emplace_back();
      }
      any = false;
    } else if (c != '\r') {
      field += c;
      any = true;
    }
  }
  if (quoted) fail(Exit::bad_data, "{}: line {}: the quote that opens here is not closed", where, opened);
  if (any || !field.empty()) {
    end_field();
  } else {
    records.pop_back();
  }
  if (records.empty()) fail(Exit::bad_data, "{}: is empty. Expected a header line", where);
  Csv csv;
  csv.header = std::move(records.front());
  csv.rows.assign(std::make_move_iterator(records.begin() + 1), std::make_move_iterator(records.end()));
  for (size_t i = 0; i < csv.rows.size(); ++i) {
    if (csv.rows[i].size() != csv.header.size()) {
      fail(Exit::bad_data, "{}: record {} has {}, but the header has {}", where, i + 1,
           counted(csv.rows[i].size(), "field"), csv.header.size());
    }
  }
  return csv;
}

Csv read_csv(const fs::path& path) {
  return parse_csv(read_file(path), path.string());
}

std::string csv_text(const Csv& csv) {
  std::string text;
  const auto line = [&](const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      text += written(fields[i]);
    }
    if (fields == std::vector<std::string>{""}) text += "\"\"";  // an empty line is no record
    text += '\n';
  };
  line(csv.header);
  for (const auto& row : csv.rows) line(row);
  return text;
}

void write_csv(const fs::path& path, const Csv& csv) {
  write_file(path, csv_text(csv));
}

}  // namespace voxswap
