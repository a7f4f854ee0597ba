// The allowed values of a key as JSON Schema: an editor refuses what the reader refuses. Made by each kind of
// key beside its reader (value_types.h).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/json.h"

namespace voxswap::experiments {

struct Range {
  double lowest, highest;
  bool without_lowest = false, without_highest = false;
};

constexpr double any_size = 1e15;  // no upper limit worth naming, and still exact as a double

namespace allowed {

Json number(const Range& range);
Json whole(const Range& range);
Json text();  // any scalar: YAML reads 12 as a number, and it is a name as well
Json text_like(const std::string& pattern);
Json choice(const std::vector<std::string>& words);
Json on_off();
Json size();  // "16GiB"
Json rate();  // "12GB/s"
Json any_of(std::vector<Json> schemas);
Json list_of(const Json& item, std::size_t least, std::size_t most = std::numeric_limits<std::size_t>::max());
Json set_of(const Json& item);  // at least one, none twice
Json map_of(const Json& entry, std::size_t least);
// A map with no other entries than these.
Json record(const std::vector<std::pair<std::string, Json>>& entries,
            const std::vector<std::string>& required, std::size_t least = 0);

}  // namespace allowed

}  // namespace voxswap::experiments
