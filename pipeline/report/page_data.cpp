// The section of data warnings: what `voxswap check` reports for the cases of the runs.
#include "pipeline/report/page_data.h"

#include <set>

#include "base/counts.h"
#include "base/error.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page_parts.h"

namespace voxswap::pipeline {

namespace {

// Runs on one data set have the same warnings; each is told once.
void add_warnings(const fs::path& file, std::set<std::vector<std::string>>& seen, Rows& rows) {
  error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return;  // written by an earlier version
  try {
    const Csv csv = read_csv(file);
    const std::string where = file.string();
    for (const auto& row : csv.rows) {
      std::vector<std::string> cells;
      for (const char* column : {"case", "problem", "what_to_do"})
        cells.push_back(row[csv.column(column, where)]);
      if (cells[0].empty()) cells[0] = "(all)";
      if (seen.insert(cells).second) rows.push_back(cells);
    }
  } catch (const Error& error) {
    rows.push_back({"(all)", error.what(), "none: the run itself is not affected"});
  }
}

}  // namespace

std::string data_section(const ReportParts& parts) {
  Rows rows(1, {"Case", "Warning", "What to do"});
  std::set<std::vector<std::string>> seen;
  for (const RunFolder& run : parts.runs) add_warnings(run.path / warnings_file, seen, rows);
  if (rows.size() == 1) return {};
  const std::string words =
      format("<p><code>voxswap check</code> gives {} for the cases of these runs.</p>\n",
             counted(rows.size() - 1, "warning"));
  Csv csv{rows.front(), {rows.begin() + 1, rows.end()}};
  return html_section("warnings", "Data warnings", words + table_section(rows, warnings_file, csv));
}

}  // namespace voxswap::pipeline
