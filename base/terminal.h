// The terminal that stderr may be: how wide it is, and the one line at its bottom that is drawn anew while
// work goes on. Messages go above that line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxswap {

// stderr is a terminal that knows how to clear a line (TERM is not `dumb`).
bool draws_on_terminal();

struct Screen {
  std::size_t lines = 24, columns = 80;  // where the terminal does not say
};
Screen screen();

// Whether the user wants no colours: NO_COLOR is set and not empty (no-color.org).
bool without_colours();

// REQUIRES: draws_on_terminal(). A line as wide as the terminal or wider would wrap, and could not be drawn
// over.
void draw_line(const std::string& line);
void clear_line();  // nothing where no line is drawn

// Columns on the screen: UTF-8 continuation bytes take no room.
std::size_t shown_width(std::string_view text);
// The beginning that takes at most so many columns, cut between characters.
std::string cut_to_width(std::string_view text, std::size_t columns);

}  // namespace voxswap
