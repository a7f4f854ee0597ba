#include "experiments/configure_warnings.h"

#include <algorithm>

#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "data/volumes/spline.h"
#include "experiments/value_types.h"

namespace voxswap::experiments {

namespace {

constexpr double small_part = 8;    // voxels of the median case per voxel of a patch with little context
constexpr double most_padding = 2;  // voxels relative to the largest case without outliers

double voxels(const Size3& size) {
  return static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
}

}  // namespace

void warn_of_little_context(const Candidate& chosen) {
  if (small_part * chosen.voxels() < chosen.median_voxels())
    log::warn(
        "only patches of {} fit into memory. The median case is {:.0f} times as large, so the network sees "
        "little context. Set a larger --memory for larger patches",
        list_text(chosen.size), chosen.median_voxels() / chosen.voxels());
}

// With so few cases, no split has the label in both parts of every fold.
void warn_of_rare_labels(const pipeline::Fingerprint& fingerprint, std::int64_t folds) {
  for (const auto& [name, value] : fingerprint.dataset.labels) {
    const auto cases = std::count_if(fingerprint.cases.begin(), fingerprint.cases.end(),
                                     [label = value](const auto& one) { return one.labels.contains(label); });
    if (cases < std::max<std::int64_t>(2, folds))
      log::warn("label {} is in {} of {}: {}", name, cases, counted(fingerprint.cases.size(), "case"),
                cases == 0   ? "no network can learn it"
                : cases == 1 ? "the fold that validates on this case trains without it"
                             : "some folds validate without it");
  }
}

bool warn_of_outliers(const pipeline::Fingerprint& fingerprint, const TrainingGrid& grid,
                      const Spacing& spacing) {
  if (voxels(grid.largest) <= most_padding * voxels(grid.usual)) return false;
  const auto size = [&](const pipeline::CaseFingerprint& one) { return data::size_at(one.grid, spacing); };
  const pipeline::CaseFingerprint& largest =
      *std::max_element(fingerprint.cases.begin(), fingerprint.cases.end(),
                        [&](const auto& a, const auto& b) { return voxels(size(a)) < voxels(size(b)); });
  log::warn(
      "case '{}' has {} voxels at {} mm, most cases at most {}: check the voxel size in its header. Whole "
      "volumes, which are padded to the largest case, are not among the candidates. {}=none plans them",
      largest.id, list_text(size(largest)), value_types::spacing_text(spacing), list_text(grid.usual),
      key::training_patch);
  return true;
}

}  // namespace voxswap::experiments
