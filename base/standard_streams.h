// The three standard streams: always open, even if the caller closed them. Failure to write results is an
// error. For messages, see log.h.
#pragma once

#include <string_view>

#include "base/text.h"

namespace voxswap {

// Opens closed streams as /dev/null. Otherwise the next opened file would get the stream's number and receive
// messages. Call it before anything opens a file.
void open_standard_streams();

// Prints text for users to stdout, made printable(). All output to stdout uses these functions.
void print(std::string_view text);
template <class... Arguments>
void print(fmt::format_string<Arguments...> pattern,
           Arguments&&... arguments) requires(sizeof...(Arguments) > 0) {
  print(std::string_view(fmt::format(pattern, std::forward<Arguments>(arguments)...)));
}
// Prints text unchanged: JSON, and cursor control.
void print_exactly(std::string_view text);

// Throws Exit::does_not_fit or Exit::failed if something printed to stdout could not be written. Call it at
// the end. A reader that has closed its pipe is not an error: in `voxswap run | head`, the exit code is that
// of the work.
void check_standard_output();

}  // namespace voxswap
