// The results of `voxswap check`, for people and for scripts.
#pragma once

#include <string>

#include "data/cases/check.h"

namespace voxswap::cli {

std::int64_t count_problems(const data::CheckReport& report, const std::string& severity);
std::string check_text(const data::CheckReport& report);
std::string check_json(const data::CheckReport& report);

}  // namespace voxswap::cli
