#include "data/cases/check.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "base/interrupt.h"
#include "base/keys.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/layouts/incomplete.h"
#include "data/layouts/open_dataset.h"

namespace voxswap::data {

namespace {

// Each thread holds one case in memory.
constexpr unsigned most_threads = 4;

void note(CheckReport& report, const std::string& what, const std::string& fix) {
  report.problems.push_back({"", "warning", what, fix});
}

void check_truths(CheckReport& report) {
  const auto& cases = report.dataset.cases;
  const auto has_none = [](const CaseFiles& files) { return !files.labelled(); };
  const auto without = std::count_if(cases.begin(), cases.end(), has_none);
  if (static_cast<std::ptrdiff_t>(cases.size()) - without == 1)
    note(report, "only 1 case has a ground truth; training needs 2, one of them for validation",
         "add cases to train on; nothing, if this one is to be predicted");
  if (without == 0) return;
  const auto first = std::find_if(cases.begin(), cases.end(), has_none);
  note(report,
       format("{} of {} without ground truth, e.g. {}", without, counted(cases.size(), "case"), first->id),
       "nothing, if intended: these cases can be predicted, but are not used for training or validation");
}

// Notes data that is incomplete by intention.
void check_completeness(CheckReport& report) {
  if (const std::string missing = missing_text(report.dataset); !missing.empty())
    note(report, format("missing channel files: {}; they are replaced by 0", missing),
         format("nothing, if intended: {} is true. Set {} to train the network for missing channels",
                key::data_missing_modalities, key::training_augment_channel_dropout));
  const auto& cases = report.dataset.cases;
  const auto partly = std::count_if(cases.begin(), cases.end(),
                                    [](const CaseFiles& files) { return files.annotated.has_value(); });
  if (partly > 0)
    note(report, format("{} of {} are partially annotated", partly, counted(cases.size(), "case")),
         format("nothing, if intended: {} lists these cases. Their other labels are excluded from loss and "
                "scores",
                key::data_annotated));
}

void check_labels(CheckReport& report) {
  std::set<int> occurring;
  for (const CaseFacts& facts : report.cases) {
    for (const auto& [value, voxels] : facts.labels) occurring.insert(value);
  }
  for (const CaseFiles& files : report.dataset.cases)
    if (files.label != 0) occurring.insert(files.label);
  if (occurring.empty()) return;
  for (const auto& [name, value] : report.dataset.labels) {
    if (!occurring.contains(value))
      note(report, format("label {} ({}) does not occur in any case", value, name),
           format("check that {} fits this data set", key::data_labels));
  }
}

// A case with a very different voxel size was often exported wrongly.
void check_voxel_sizes(CheckReport& report) {
  std::vector<double> sizes;
  for (const CaseFacts& facts : report.cases) {
    if (facts.grid) sizes.push_back(voxel_volume(facts.grid->spacing));
  }
  if (sizes.size() < 3) return;
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  const double median = sizes[sizes.size() / 2];
  constexpr double noticeable = 4;
  for (const CaseFacts& facts : report.cases) {
    if (!facts.grid) continue;
    const double ratio = voxel_volume(facts.grid->spacing) / median;
    if (ratio < noticeable && ratio > 1 / noticeable) continue;
    report.problems.push_back({facts.id, "warning",
                               format("case {}: voxel volume {:.3g} mm^3, while the median is {:.3g} mm^3",
                                      facts.id, voxel_volume(facts.grid->spacing), median),
                               "check the spacing in its header"});
  }
}

// Images with one slice cannot train a network on volumes.
void check_flatness(CheckReport& report) {
  if (report.dataset.images) return;
  std::vector<std::string> flat;
  std::size_t known = 0;
  for (const CaseFacts& facts : report.cases) {
    if (!facts.grid) continue;
    ++known;
    const Size3& size = facts.grid->size;
    if (std::min({size[0], size[1], size[2]}) == 1) flat.push_back(facts.id);
  }
  if (flat.empty()) return;
  const std::string fix = "voxswap segments volumes here: provide the whole stack of slices";
  if (flat.size() == known) {
    note(report, format("{}, all of them 2D: each image has a single slice", counted(known, "case")), fix);
    return;
  }
  for (const std::string& id : flat)
    report.problems.push_back(
        {id, "warning", format("case {} is 2D: its images have a single slice", id), fix});
}

// Reports channels with identical voxels, in any case. Two cases with all channels identical are reported
// once.
void check_duplicates(CheckReport& report) {
  const auto whole = [](const CaseFacts& facts) {
    const bool all = std::none_of(facts.contents.begin(), facts.contents.end(),
                                  [](const std::string& hash) { return hash.empty(); });
    return all ? join(facts.contents, " ") : std::string();
  };
  std::map<std::string, const CaseFacts*> cases;
  std::map<std::string, std::pair<const CaseFacts*, std::size_t>> channels;
  for (const CaseFacts& facts : report.cases) {
    if (const std::string content = whole(facts); !content.empty()) {
      const auto [known, fresh] = cases.try_emplace(content, &facts);
      if (!fresh) {
        report.problems.push_back(
            {facts.id, "warning",
             format("case {} has the same voxels as {} in every channel", facts.id, known->second->id),
             "remove one; a case that is in training and validation inflates the scores"});
        continue;
      }
    }
    for (std::size_t c = 0; c < facts.contents.size(); ++c) {
      if (facts.contents[c].empty()) continue;
      const auto [known, fresh] = channels.try_emplace(facts.contents[c], &facts, c);
      if (fresh) continue;
      const auto& names = report.dataset.modalities;
      report.problems.push_back({facts.id, "warning",
                                 format("case {}: {} has the same voxels as {} of {}", facts.id, names[c],
                                        names[known->second.second], known->second.first->id),
                                 "one of the two files has the wrong name; replace it"});
    }
  }
}

}  // namespace

CheckReport check_listed(Dataset dataset, const CheckOptions& options) {
  CheckReport report;
  report.dataset = std::move(dataset);
  const std::vector<CaseFiles>& cases = report.dataset.cases;
  report.cases.resize(cases.size());
  std::vector<std::vector<Problem>> problems(cases.size());
  Progress progress("checking", "cases", static_cast<std::int64_t>(cases.size()));
  std::mutex guard;
  const auto check = [&](std::size_t i) {
    throw_if_interrupted();
    report.cases[i] = check_case(report.dataset, cases[i], options, problems[i]);
    const std::lock_guard lock(guard);
    progress.advance();
  };
  parallel_for(cases.size(), check, most_threads);
  check_truths(report);
  check_completeness(report);
  check_labels(report);
  for (const auto& of_case : problems)
    report.problems.insert(report.problems.end(), of_case.begin(), of_case.end());
  check_voxel_sizes(report);
  check_flatness(report);
  check_duplicates(report);
  report.unused = unused_in(report.dataset);
  return report;
}

CheckReport check_dataset(const CheckOptions& options) {
  return check_listed(list_dataset(options.data), options);
}

}  // namespace voxswap::data
