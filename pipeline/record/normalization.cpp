#include "pipeline/record/normalization.h"

#include <algorithm>
#include <cmath>

#include "base/counts.h"
#include "base/error.h"
#include "pipeline/record/number_lists.h"

namespace voxswap::pipeline {

std::map<std::string, std::string> normalization_metadata(const data::Normalization& normalization) {
  return {{"normalization.mean", numbers_text(normalization.mean)},
          {"normalization.deviation", numbers_text(normalization.deviation)}};
}

data::Normalization normalization_from(const Checkpoint& checkpoint, std::size_t channels,
                                       const std::string& where) {
  const data::Normalization made{numbers_from(checkpoint, "normalization.mean", where),
                                 numbers_from(checkpoint, "normalization.deviation", where)};
  for (const std::vector<double>* list : {&made.mean, &made.deviation}) {
    if (list->size() != channels ||
        !std::all_of(list->begin(), list->end(), [](double value) { return std::isfinite(value); }))
      fail(Exit::bad_data, "{}: its normalization is not a finite number for each of the {}", where,
           counted(channels, "channel"));
  }
  return made;
}

}  // namespace voxswap::pipeline
