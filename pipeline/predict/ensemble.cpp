#include "pipeline/predict/ensemble.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/keys.h"

namespace voxswap::pipeline {

namespace {

// Of a run, what bears on how its network is to be used: by key, as text.
std::map<std::string, std::string> used_as(const RunOptions& run, const PredictOptions& how) {
  std::map<std::string, std::string> values;
  for (const Setting& setting : run.settings)
    if (setting.key.starts_with(key::network_section) || setting.key.starts_with(key::preprocess_section) ||
        setting.key == key::training_targets || (setting.key == key::training_patch && !how.window))
      values[setting.key] = setting.value;
  values[key::training_loss] = net::loss_options(run.training.loss).classes ? "a soft-max" : "a sigmoid";
  if (how.mirror)
    for (const bool axis : data::mirrored_axes(run.training.augment))
      values[key::training_augment_symmetries] += axis ? "mirrored " : "not mirrored ";
  return values;
}

void refuse(const RunOptions& one, const RunOptions& other, const std::string& what) {
  fail(Exit::usage,
       "{} and {} cannot predict together: {}. The runs of an ensemble may differ in fold, seed and training "
       "only",
       one.output.string(), other.output.string(), what);
}

}  // namespace

std::vector<Member> members_of(const std::vector<RunOptions>& runs) {
  std::vector<Member> members;
  for (const RunOptions& run : runs)
    for (std::int64_t repeat = 1; repeat <= run.training.repeats; ++repeat) members.push_back({&run, repeat});
  return members;
}

void check_alike(const std::vector<RunOptions>& runs, const std::vector<data::Dataset>& trained,
                 const PredictOptions& how) {
  const std::map<std::string, std::string> first = used_as(runs.front(), how);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const data::Dataset &a = trained.front(), &b = trained[i];
    if (a.modalities != b.modalities)
      refuse(runs.front(), runs[i],
             format("their channels are {} and {}", join(a.modalities, ", "), join(b.modalities, ", ")));
    if (a.labels != b.labels || a.regions != b.regions)
      refuse(runs.front(), runs[i], "their labels or regions differ");
    for (const auto& [name, value] : used_as(runs[i], how))
      if (const auto found = first.find(name); found == first.end() || found->second != value)
        refuse(runs.front(), runs[i],
               format("{} is {} and {}", name, found == first.end() ? "unknown" : found->second, value));
  }
}

}  // namespace voxswap::pipeline
