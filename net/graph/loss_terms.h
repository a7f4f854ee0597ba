// What the attributes of losses say: of the sums over voxels (net/ops/loss.cpp, softmax_loss.cpp), and of the
// loss that is made of them. For operations and backends alike.
#pragma once

#include <string>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

constexpr std::int64_t most_loss_weights = 512;  // of outputs: a GPU's kernel is given all of them at once

// Of what nobody says whether it is so, which gives no loss and no gradient: of nothing; of some voxels,
// nothing at all; of some voxels, some of the outputs.
enum class Unknown { nothing, voxels, outputs };

// How a voxel's cross entropy is made.
struct LossTerms {
  double smoothing = 0;  // of targets: Szegedy et al. 2016
  double focus = 0;      // gamma of the focal loss: Lin et al. 2017
  // Of labels, bits behind those of all outputs tell it: one for the voxel, or one for each output.
  Unknown unknown = Unknown::nothing;

  LossTerms() = default;
  explicit LossTerms(const Attributes& a);
  bool plain() const { return smoothing == 0 && focus == 0 && unknown == Unknown::nothing; }
  // Sums per output; the fifth is the number of voxels of which it is known.
  std::int64_t kinds() const { return plain() ? 4 : 5; }
  // Of labels: what a voxel's target takes, a bit for each output and those.
  std::int64_t target_bytes(std::int64_t outputs) const;
  // The bit of a voxel's target that tells that an output is not known there. REQUIRES: something is unknown.
  std::int64_t unknown_bit(std::int64_t output, std::int64_t outputs) const {
    return outputs + (unknown == Unknown::outputs ? output : 0);
  }
  void add_to(Attributes& a) const;
};

// How the loss is made of sums.
struct LossWeights {
  double dice = 1, cross_entropy = 0, epsilon = 1e-5;
  std::int64_t first = 0;         // of the outputs that Dice is of
  double count = 1;               // numbers of a sample whose cross entropies were summed
  int counted_by = 0;             // the column of sums that counts them instead; 0: none does
  std::vector<double> of_output;  // empty: all have the same

  LossWeights() = default;
  LossWeights(const Attributes& a, std::int64_t outputs);
  double of(std::int64_t output) const;
  Attributes attributes() const;
};

}  // namespace voxswap::net
