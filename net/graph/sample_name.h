// What belongs to the samples of a batch is called (net/steps/samples.h): how plans tell which nodes do the
// same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace voxswap::net {

// Samples count from 0, and from 1 in names.
std::string sample_name(std::string_view name, std::int64_t sample);                 // "input@3"
std::string sum_name(std::string_view name, std::int64_t first, std::int64_t last);  // "loss@1-2"

std::optional<std::int64_t> sample_in(std::string_view name);  // nothing of a sum, and of what has no sample

// What it is called in the step of one sample: "input" of "input@3" and of "input"; nothing of a sum.
std::optional<std::string> name_in_one_sample(std::string_view name);

}  // namespace voxswap::net
