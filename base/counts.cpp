#include "base/counts.h"

#include "base/text.h"

namespace voxswap {
namespace {

std::string plural(std::string_view noun) {
  const std::string word(noun);
  if (noun.ends_with("series")) return word;
  if (noun.ends_with("axis")) return word.substr(0, word.size() - 2) + "es";
  if (noun.ends_with("s") || noun.ends_with("x") || (noun.ends_with("ch") && !noun.ends_with("epoch")))
    return word + "es";
  if (noun.ends_with("y") && !noun.ends_with("ay") && !noun.ends_with("ey"))
    return word.substr(0, word.size() - 1) + "ies";
  return word + "s";
}

}  // namespace

std::string counted(std::int64_t count, std::string_view noun) {
  return format("{} {}", count, count == 1 ? std::string(noun) : plural(noun));
}

}  // namespace voxswap
