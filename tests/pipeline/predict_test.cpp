#include "pipeline/predict.h"

#include <gtest/gtest.h>

namespace voxswap {
namespace {

Dataset brats() {
  Dataset dataset;
  dataset.labels = {{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}};
  dataset.regions = {{"whole_tumor", {1, 2, 4}}, {"tumor_core", {1, 4}}, {"enhancing_tumor", {4}}};
  return dataset;
}

TEST(Decoder, WritesTheLabelOfTheLargestProbabilityOfAtLeastOneHalf) {
  const LabelDecoder decoder = make_decoder(brats(), "labels");
  const std::vector<float> probabilities = {0.1f, 0.2f, 0.3f,   // none reaches one half
                                            0.5f, 0.4f, 0.1f,   // necrosis, just
                                            0.6f, 0.9f, 0.7f,   // oedema
                                            0.0f, 0.0f, 1.0f};  // enhancing: value 4
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{0, 1, 2, 4}));
}

TEST(Decoder, TurnsNestedRegionsIntoTheLabelsTheyLeaveOver) {
  const LabelDecoder decoder = make_decoder(brats(), "regions");
  const std::vector<float> probabilities = {0.9f, 0.1f, 0.1f,   // whole tumour only: oedema
                                            0.9f, 0.8f, 0.2f,   // core without enhancement: necrosis
                                            0.9f, 0.8f, 0.7f,   // enhancing
                                            0.2f, 0.3f, 0.4f};  // nothing
  EXPECT_EQ(decoder.decode(probabilities), (std::vector<std::int16_t>{2, 1, 4, 0}));
}

}  // namespace
}  // namespace voxswap
