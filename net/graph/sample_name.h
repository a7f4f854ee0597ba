// Names of nodes and values of the samples in a batch (net/steps/samples.h), by which plans recognise nodes
// that do the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace voxswap::net {

// Samples are counted from 0 in code and from 1 in names.
std::string sample_name(std::string_view name, std::int64_t sample);                 // "input@3"
std::string sum_name(std::string_view name, std::int64_t first, std::int64_t last);  // "loss@1-2"

std::optional<std::int64_t> sample_in(std::string_view name);  // nullopt for a sum or a name without a sample

// The name in the step of one sample: "input" for "input@3" and for "input". Nullopt for a sum.
std::optional<std::string> name_in_one_sample(std::string_view name);

}  // namespace voxswap::net
