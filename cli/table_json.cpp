#include "cli/table_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/parse_number.h"

namespace voxswap::cli {

namespace {

bool is_text(std::string_view column) {
  constexpr std::array<std::string_view, 8> names = {"run",          "cell",  "case",      "region",
                                                     "evaluated_at", "truth", "predicted", "resolution"};
  return std::find(names.begin(), names.end(), column) != names.end();
}

Json value_of(std::string_view column, const std::string& field) {
  if (is_text(column)) return field;
  if (const auto whole = parse_number<std::int64_t>(field)) return *whole;
  const auto number = parse_number<double>(field);
  if (!number) return field;
  return std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

}  // namespace

Json table_json(const Csv& csv) {
  Json rows = Json::array();
  for (const auto& fields : csv.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < csv.header.size(); ++i)
      row[csv.header[i]] = value_of(csv.header[i], fields[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace voxswap::cli
