#include "voxswap/evaluate.h"

#include "pipeline/predict/evaluate.h"

namespace voxswap {

std::vector<Score> evaluate(const std::string& truth, const std::string& prediction,
                            const EvaluationOptions& options) {
  pipeline::FolderOptions how;
  for (const auto& [name, values] : options.regions) how.regions.emplace_back(name, values);
  how.partial = options.partial;
  how.evaluate.empty = options.empty;
  how.evaluate.metrics.clear();
  for (const std::string& name : options.metrics) how.evaluate.metrics.push_back(metrics::metric(name).name);
  std::vector<Score> scores;
  for (const pipeline::DiceRow& row : pipeline::evaluate_folders(truth, prediction, how)) {
    Score score{row.case_id, row.region, {}};
    for (const std::string& name : how.evaluate.metrics)
      score.metrics[name] = pipeline::metric_value(row, name);
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace voxswap
