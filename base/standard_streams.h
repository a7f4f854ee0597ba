// The three standard streams: always open, even if the caller closed them. Results that cannot be written are
// an error. Messages go through log.h.
#pragma once

#include <string_view>

#include "base/text.h"

namespace voxswap {

// A stream that was closed is opened as /dev/null. Otherwise the next file would take its number, and
// messages would be written into that. Call it before anything opens a file.
void open_standard_streams();

// Writes to stdout, for people: printable() of the text. Nothing else writes there.
void print(std::string_view text);
template <class... Arguments>
void print(fmt::format_string<Arguments...> pattern,
           Arguments&&... arguments) requires(sizeof...(Arguments) > 0) {
  print(std::string_view(fmt::format(pattern, std::forward<Arguments>(arguments)...)));
}
// The text as it is: JSON, and what moves the cursor.
void print_exactly(std::string_view text);

// Throws Exit::does_not_fit or Exit::failed if something that was printed to stdout could not be written.
// Call it at the end. Output whose reader has gone is dropped without an error: whoever runs `voxswap run |
// head` has read what they wanted, and the exit code is that of the work.
void check_standard_output();

}  // namespace voxswap
