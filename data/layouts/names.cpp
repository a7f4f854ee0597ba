#include "data/layouts/names.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/counts.h"
#include "base/error.h"
#include "base/filesystem.h"
#include "base/keys.h"
#include "base/log.h"
#include "data/formats/image_io.h"

namespace voxswap::data {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

std::string modality_name(const std::string& written) {
  const std::string name = snake_case(written);
  if (name == "t1n" || name == "t1w") return "t1";
  if (name == "t1c" || name == "t1gd" || name == "t1_gd" || name == "t1wce" || name == "t1w_ce")
    return "t1ce";
  if (name == "t2w") return "t2";
  if (name == "t2f" || name == "t2_flair" || name == "t2flair") return "flair";
  return name;
}

// A tumour's labels are oedema, an enhancing part and perhaps others of the core. A resection cavity (BraTS
// 2024) is no tumour: it is scored by itself.
Regions default_regions(const Labels& labels) {
  Regions alone;
  std::vector<int> whole, core, enhancing;
  bool has_oedema = false;
  for (const auto& [label, value] : labels) {
    const std::string name = snake_case(label);
    alone.push_back({name, {value}});
    if (contains(name, "resection") || contains(name, "cavity")) continue;
    whole.push_back(value);
    const bool oedema = contains(name, "edema");
    has_oedema = has_oedema || oedema;
    if (!oedema) core.push_back(value);
    if (name.starts_with("enhancing")) enhancing.push_back(value);
  }
  if (!has_oedema || enhancing.empty()) return alone;
  Regions regions{{"whole_tumor", whole}, {"tumor_core", core}, {"enhancing_tumor", enhancing}};
  for (const auto& region : alone) {
    if (std::find(whole.begin(), whole.end(), region.second.front()) == whole.end())
      regions.push_back(region);
  }
  return regions;
}

Labels observed_labels(const Dataset& dataset) {
  std::set<int> values;
  constexpr std::size_t enough = 20;
  std::size_t looked_at = 0;
  for (const CaseFiles& files : dataset.cases) {
    error_code ignored;
    if (looked_at == enough) break;
    if (files.truth.empty() || !fs::is_regular_file(files.truth, ignored)) continue;
    try {
      const LabelMap labels = read_label_map(files.truth);
      values.insert(labels.voxels.begin(), labels.voxels.end());
      ++looked_at;
    } catch (const Error&) {
      continue;  // told when the case itself is read
    }
  }
  Labels labels;
  for (const int value : values) {
    if (value > 0) labels.push_back({format("label_{}", value), value});
  }
  if (!labels.empty()) {
    log::warn("{} is not set: found {} in the first {}. Name them there", key::data_labels,
              counted(labels.size(), "label"), counted(looked_at, "label map"));
  }
  return labels;
}

}  // namespace voxswap::data
