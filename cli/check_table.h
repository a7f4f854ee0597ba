// What `voxswap check` found, for a person and for a script.
#pragma once

#include <string>

#include "data/cases/check.h"

namespace voxswap {

std::int64_t count_problems(const CheckReport& report, const std::string& severity);
std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace voxswap
