// Names of slabs (pieces) of a volume and of the samples in a batch. People, plots and plans use them to
// group related values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace voxswap::net {

// Slabs (docs/explanation/slabs.md).
std::string piece_name(std::string_view volume, std::size_t piece);  // "encoder.0.input[3]"

// "norm[3].1", a second output of node "norm[3]", is slab "[3]" of volume "norm.1".
struct PieceName {
  std::string volume;          // the whole name if it is not a slab
  std::string piece;           // empty if it is not a slab
  std::size_t number() const;  // index of the slab; 0 for a whole volume
};
PieceName split_piece_name(std::string_view name);

// Samples in a batch (net/steps/samples.h): nodes and values that do the same. Samples are counted from 0 in
// code and from 1 in names.
std::string sample_name(std::string_view name, std::int64_t sample);                 // "input@3"
std::string sum_name(std::string_view name, std::int64_t first, std::int64_t last);  // "loss@1-2"

std::optional<std::int64_t> sample_in(std::string_view name);  // nullopt for a sum or a name without a sample

// The name in the step of one sample: "input" for "input@3" and for "input". Nullopt for a sum.
std::optional<std::string> name_in_one_sample(std::string_view name);

}  // namespace voxswap::net
