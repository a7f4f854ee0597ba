// From an image to a label map on the case's own grid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "pipeline/cases.h"
#include "pipeline/session.h"

namespace voxswap {

// What each output channel writes into a label map. targets labels: the channel with the largest probability
// of at least 0.5. targets regions: nested, from the largest to the smallest; each writes the label that its
// subregions leave over (whole tumour: oedema; core: necrosis; enhancing: enhancing).
struct LabelDecoder {
  bool exclusive = true;
  std::vector<std::int16_t> values;   // per channel
  std::vector<std::size_t> sequence;  // regions only: the order in which channels write

  std::vector<std::int16_t> decode(std::span<const float> probabilities) const;  // D,H,W,channels -> D,H,W
};
LabelDecoder make_decoder(const Dataset& dataset, const std::string& targets);

struct Prediction {
  LabelMap native;  // on the case's own grid: probabilities resampled linearly onto the crop, then decided
  LabelMap on_training_grid;  // decided where the network computes
};
// `prepared` is normalised.
Prediction predict_case(Session& session, const PreparedCase& prepared, const LabelDecoder& decoder);

}  // namespace voxswap
