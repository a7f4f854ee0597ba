#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>

#include "base/text.h"

namespace voxswap {

namespace {

std::mutex drawing;
bool line_is_drawn = false;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool draws_on_terminal() {
  return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
}

Screen screen() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

std::size_t columns_of_output() {
  winsize size{};
  const bool terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal ? size.ws_col : std::numeric_limits<std::size_t>::max();
}

bool without_colours() {
  return !variable("NO_COLOR").empty();
}

void draw_line(const std::string& line) {
  const std::lock_guard lock(drawing);
  std::fputs(("\r\033[K" + cut_to_width(printable(line), screen().columns - 1)).c_str(), stderr);
  std::fflush(stderr);
  line_is_drawn = true;
}

void clear_line() {
  const std::lock_guard lock(drawing);
  if (!line_is_drawn) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  line_is_drawn = false;
}

std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues_character(byte); }));
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end)
    if (!continues_character(text[end]) && ++shown > columns) break;
  return std::string(text.substr(0, end));
}

}  // namespace voxswap
