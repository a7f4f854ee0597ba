#include "pipeline/report/reliability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "pipeline/report/group_colors.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

Columns<ReliabilityRow> columns_of(const ReliabilityRow*) {
  using namespace column;
  using Row = ReliabilityRow;
  return of_repeat<Row>(
      {text("output", "output: a label or region", &Row::output),
       count("bin", "bin of the predicted probability, of 15 with equal width", &Row::bin, 1),
       count("voxels", "voxels of all validation cases with a probability in this bin", &Row::voxels),
       count("belonging", "those that belong to the output in the ground truth", &Row::belonging),
       real("probability", "mean predicted probability (nan: no voxels)", &Row::probability, column::share)});
}

std::vector<ReliabilityRow> reliability_rows(const ReliabilityRow& like, const metrics::Calibration& of) {
  std::vector<ReliabilityRow> rows;
  for (const metrics::Calibration::Bin& bin : of.counts()) {
    ReliabilityRow& row = rows.emplace_back(like);
    row.bin = static_cast<std::int64_t>(rows.size());
    row.voxels = bin.voxels;
    row.belonging = bin.belonging;
    row.probability = bin.sum / static_cast<double>(bin.voxels);
  }
  return rows;
}

std::vector<ReliabilityRow> summed(const std::vector<ReliabilityRow>& rows) {
  std::vector<ReliabilityRow> sums;
  std::map<std::tuple<std::string, std::int64_t, std::string, std::string, std::int64_t>, std::size_t> places;
  for (const ReliabilityRow& row : rows) {
    const auto [place, fresh] =
        places.try_emplace({row.run, row.repeat, row.resolution, row.output, row.bin}, sums.size());
    if (fresh) {
      sums.push_back(row);
      continue;
    }
    ReliabilityRow& sum = sums[place->second];
    if (row.voxels == 0) continue;
    const double share = static_cast<double>(row.voxels) / static_cast<double>(sum.voxels + row.voxels);
    sum.probability = sum.voxels == 0 ? row.probability : std::lerp(sum.probability, row.probability, share);
    sum.voxels += row.voxels;
    sum.belonging += row.belonging;
  }
  return sums;
}

Picture reliability_plot(const std::vector<ReliabilityRow>& rows, const std::vector<RunGroup>& groups,
                         int width) {
  constexpr std::size_t most_outputs = 6, most_columns = 3;
  std::vector<std::string> outputs = distinct(rows, &ReliabilityRow::output);
  if (outputs.empty()) return {};
  outputs.resize(std::min(outputs.size(), most_outputs));
  const auto of_groups = by_group(groups, rows);
  Figure figure{.title = "Reliability diagrams",
                .left_margin = 68,
                .note = "dashed: probabilities that equal observed frequencies",
                .legend = group_legend(groups)};
  figure.set_columns(std::min(outputs.size(), most_columns), width);
  for (const std::string& output : outputs) {
    Panel panel{.title = figure.fitting(with_spaces(output)),
                .x = number_axis({0, 1}, 2, "probability"),
                .y = figure.shared(number_axis({0, 1}, 5, "frequency")),
                .height = std::min(220, static_cast<int>(figure.panel_width()))};
    panel.elements.push_back(format("x with lines dt '-' lw 1 lc rgb '{}' notitle", plot_ink));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      std::vector<ReliabilityRow> of_output;  // pooled over the runs and repeats of the group
      for (const ReliabilityRow* row : of_groups[group])
        if (row->output == output) static_cast<RepeatOfRun&>(of_output.emplace_back(*row)) = {};
      std::string lines;
      for (const ReliabilityRow& row : summed(of_output))
        if (row.voxels > 0)
          lines += format("{} {}\n", row.probability,
                          static_cast<double>(row.belonging) / static_cast<double>(row.voxels));
      if (!lines.empty())
        figure.add(panel, lines, "1:2",
                   format("linespoints lw 1.6 pt 7 ps 0.6*point lc rgb '{}'", group_color(groups, group)));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
