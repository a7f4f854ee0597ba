#include "voxswap/dataset.h"

#include "data/cases/check.h"
#include "library/content.h"

namespace voxswap {

namespace {

DatasetReport checked(const data::CheckOptions& options) {
  const data::CheckReport found = data::check_dataset(options);
  DatasetReport report;
  report.layout = found.dataset.layout;
  report.channels = found.dataset.modalities;
  for (const auto& [name, value] : found.dataset.labels) report.labels.emplace_back(name, value);
  for (const data::CaseFiles& files : found.dataset.cases) report.cases.push_back(files.id);
  for (const data::Problem& problem : found.problems)
    report.problems.push_back({problem.case_id, problem.severity, problem.what, problem.fix});
  return report;
}

}  // namespace

DatasetReport check(const std::string& folder, const std::string& layout) {
  data::CheckOptions options;
  options.data.root = folder;
  options.data.layout = layout;
  return checked(options);
}

DatasetReport check(const Experiment& experiment) {
  const pipeline::Experiment& settings = experiment.content().experiment;
  return checked({settings.data, settings.preprocess.corner_background, settings.preprocess.background});
}

}  // namespace voxswap
