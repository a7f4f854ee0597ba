// Attributes of losses, for operations and backends: of the sums over voxels (net/ops/loss.cpp)
// and of the loss computed from them.
#pragma once

#include <string>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

constexpr std::int64_t most_loss_weights =
    512;  // outputs that may have weights; a GPU kernel takes all weights as arguments

// The unit that may lack annotation and then contributes neither loss nor gradient: none, whole voxels, or
// single outputs of a voxel.
enum class Unknown { nothing, voxels, outputs };

// Cross entropy of a voxel.
struct LossTerms {
  double smoothing = 0;  // label smoothing: Szegedy et al. 2016
  double focus = 0;      // gamma of the focal loss: Lin et al. 2017
  // For labels: bits after those of the outputs mark it, one per voxel or one per output.
  Unknown unknown = Unknown::nothing;

  LossTerms() = default;
  explicit LossTerms(const Attributes& a);
  bool plain() const { return smoothing == 0 && focus == 0 && unknown == Unknown::nothing; }
  // Sums per output. The fifth counts the annotated voxels.
  std::int64_t kinds() const { return plain() ? 4 : 5; }
  // For labels: bytes of a voxel's target, one bit per output and the bits of `unknown`.
  std::int64_t target_bytes(std::int64_t outputs) const;
  // The target bit that marks `output` as not annotated. REQUIRES: unknown != Unknown::nothing.
  std::int64_t unknown_bit(std::int64_t output, std::int64_t outputs) const {
    return outputs + (unknown == Unknown::outputs ? output : 0);
  }
  void add_to(Attributes& a) const;
};

// How the loss is computed from the sums.
struct LossWeights {
  double dice = 1, cross_entropy = 0, epsilon = 1e-5;
  std::int64_t first = 0;         // first output included in Dice
  double count = 1;               // terms per sample in the sums of cross entropy
  int counted_by = 0;             // the column of sums that holds this count instead; 0: none
  std::vector<double> of_output;  // empty: equal weights

  LossWeights() = default;
  LossWeights(const Attributes& a, std::int64_t outputs);
  double of(std::int64_t output) const;
  Attributes attributes() const;
};

}  // namespace voxswap::net
