// Messages for users, on stderr. Results (tables, JSON) are printed to stdout instead.
#pragma once

#include <string>

#include "base/text.h"

namespace voxswap::log {

enum class Level { debug, info, warning, error };

void set_level(Level level);
Level level();
void write(Level level, const std::string& message);

template <class... Arguments>
void debug(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  if (level() <= Level::debug)
    write(Level::debug, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void info(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  write(Level::info, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void warn(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  write(Level::warning, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void error(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  write(Level::error, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}

}  // namespace voxswap::log
