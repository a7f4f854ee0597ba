// The terminal: its size, and the status line at the bottom, which is redrawn while a command runs.
// Messages appear above that line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxswap {

// True if stderr is a terminal that can clear a line (TERM is not `dumb`).
bool draws_on_terminal();

struct Screen {
  std::size_t lines = 24, columns = 80;  // defaults when the terminal reports no size
};
Screen screen();
// Columns of the terminal on stdout; if it is none, the largest number.
std::size_t columns_of_output();

// True if the user disabled colours: NO_COLOR is set and not empty (no-color.org).
bool without_colours();

// Draws the status line, made printable() and cut to the terminal's width, since a wrapped line cannot be
// redrawn. REQUIRES: draws_on_terminal().
void draw_line(const std::string& line);
void clear_line();  // does nothing if no line is drawn

// Width in columns. UTF-8 continuation bytes have no width.
std::size_t shown_width(std::string_view text);
// The longest prefix of `text` that fits in `columns`, cut between characters.
std::string cut_to_width(std::string_view text, std::size_t columns);

}  // namespace voxswap
