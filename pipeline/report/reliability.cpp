#include "pipeline/report/reliability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.h"
#include "pipeline/report/curves.h"
#include "pipeline/report/figure.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

template <>
const Columns<ReliabilityRow>& columns<ReliabilityRow>() {
  using namespace column;
  using Row = ReliabilityRow;
  static const Columns<Row> list = {
      run<Row>(),
      repeat<Row>(),
      resolution<Row>(),
      text("output", "output: a label or region", &Row::output),
      count("bin", "bin of the predicted probability, of 15 with equal width", &Row::bin, 1),
      count("voxels", "voxels of all validation cases with a probability in this bin", &Row::voxels),
      count("belonging", "those that belong to the output in the ground truth", &Row::belonging),
      real("probability", "mean predicted probability (nan: no voxels)", &Row::probability, column::share)};
  return list;
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
  std::vector<std::string> outputs;
  std::map<std::pair<std::string, std::size_t>, std::vector<ReliabilityRow>> by_group;
  for (const ReliabilityRow& row : rows) {
    if (std::find(outputs.begin(), outputs.end(), row.output) == outputs.end()) outputs.push_back(row.output);
    ReliabilityRow pooled = row;  // over the runs and repeats of the group
    pooled.run = pooled.resolution = "";
    pooled.repeat = 1;
    by_group[{row.output, group_of(groups, row.run, row.resolution)}].push_back(pooled);
  }
  if (outputs.empty()) return {};
  outputs.resize(std::min(outputs.size(), most_outputs));
  Figure figure{.title = "Reliability diagrams",
                .left_margin = 68,
                .note = "dashed: probabilities that equal observed frequencies",
                .legend = group_legend(groups)};
  figure.columns = static_cast<int>(std::min(outputs.size(), most_columns));
  figure.width = width > 0 ? width : figure.columns == 1 ? 420 : 690;
  for (const std::string& output : outputs) {
    Panel panel{
        .title = shortened(with_spaces(output), static_cast<std::size_t>(figure.width / figure.columns) / 8),
        .x = number_axis({0, 1}, 2, "probability"),
        .y = number_axis({0, 1}, 5, "frequency"),
        .height = std::min(220, static_cast<int>(figure.panel_width()))};
    share_axis(panel.y, figure.panels.size() % static_cast<std::size_t>(figure.columns));
    panel.elements.push_back(format("x with lines dt '-' lw 1 lc rgb '{}' notitle", plot_ink));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      std::string lines;
      for (const ReliabilityRow& row : summed(by_group[{output, group}]))
        if (row.voxels > 0)
          lines += format("{} {}\n", row.probability,
                          static_cast<double>(row.belonging) / static_cast<double>(row.voxels));
      if (!lines.empty())
        panel.elements.push_back(
            element(figure.add_data(lines), "1:2",
                    format("linespoints lw 1.6 pt 7 ps 0.6*point lc rgb '{}'", group_color(groups, group))));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure.draw();
}

}  // namespace voxswap::pipeline
