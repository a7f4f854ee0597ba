// Parts that the sections of report.html share.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"
#include "pipeline/report/report_parts.h"

namespace voxswap::pipeline {

using Rows = std::vector<std::vector<std::string>>;  // of a table; the first is the header

std::string decimals(double value);         // "0.871", "nan"
std::string signed_decimals(double value);  // "+0.012"
std::string p_text(double p);               // "0.0123", "< 0.0001"
std::string picture_section(const ReportParts& parts, const std::string& name, const std::string& caption);
// A table with a link that saves the numbers behind it.
std::string table_section(const Rows& rows, const std::string& file, const Csv& csv);
std::string table_section(const Rows& rows, const std::string& file);  // with what is shown
// Leaves out columns that say nothing in any row.
Rows without_empty_columns(Rows rows);
// Leaves out the column with this heading where all rows say the same; what they say, empty where they
// differ.
std::string take_out_common(Rows& rows, const std::string& heading);
// In the order in which they first appear, which is that of the experiment: the place of a region in it is
// the place of its colour in the palette.
std::vector<std::string> region_names(const std::vector<DiceRow>& rows);
// "A, B and 4 more"
std::string listed(const std::vector<std::string>& names, std::size_t most);
// Without an order, as they come.
std::vector<std::size_t> groups_from_best(const ReportParts& parts);
std::string grid_words(const std::string& evaluated_at);  // "the native grid", "a grid of 144"

}  // namespace voxswap::pipeline
