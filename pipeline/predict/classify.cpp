#include "pipeline/predict/classify.h"

#include <algorithm>
#include <cassert>

#include "base/counts.h"
#include "base/text.h"

namespace voxswap::pipeline {

std::size_t most_likely(std::span<const float> probabilities) {
  return static_cast<std::size_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                  probabilities.begin());
}

ClassRow class_row(const data::Dataset& dataset, const data::CaseFiles& files,
                   std::span<const float> probabilities) {
  assert(probabilities.size() == dataset.labels.size());
  ClassRow row;
  row.case_id = files.id;
  for (std::size_t c = 0; c < dataset.labels.size(); ++c) {
    const auto& [name, value] = dataset.labels[c];
    if (value == files.label) row.truth = name;
    row.probabilities.emplace_back(name, probabilities[c]);
  }
  row.predicted = dataset.labels[most_likely(probabilities)].first;
  return row;
}

std::string accuracy_text(const std::vector<ClassRow>& rows) {
  std::string text;
  for (const Confusion& one : confusions(rows))
    text += format("{}accuracy {:.3f}, {} of {}", text.empty() ? "" : "; ", one.accuracy(), one.right(),
                   counted(one.all(), "image"));
  return text;
}

}  // namespace voxswap::pipeline
