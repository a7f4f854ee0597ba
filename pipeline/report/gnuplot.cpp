#include "pipeline/report/gnuplot.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/palette.h"

extern char** environ;

namespace voxswap::pipeline {

namespace {

// A file in memory. Pipes for three streams would have to be interleaved carefully, and a file on disk could
// fail on a full disk.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0)
      fail(Exit::failed, "cannot create a file in memory for gnuplot: {}", std::strerror(errno));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  void write(std::string_view bytes) {
    if (const int error = write_all(descriptor_, bytes.data(), bytes.size()); error != 0)
      fail(exit_of(error), "cannot send gnuplot its script: {}", std::strerror(error));
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  std::string content() const {
    std::string bytes(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(descriptor_, 0, SEEK_END))), '\0');
    ::lseek(descriptor_, 0, SEEK_SET);
    const ssize_t got = read_up_to(descriptor_, bytes.data(), bytes.size());
    if (got < 0) fail(exit_of(errno), "cannot read what gnuplot drew: {}", std::strerror(errno));
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }

 private:
  int descriptor_;
};

// Runs a program with these files as its standard streams and describes its failure; empty on success.
std::string run(std::vector<std::string> command, const std::string& hint,
                const std::array<const MemoryFile*, 3>& streams) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; const MemoryFile* stream : streams)
    posix_spawn_file_actions_adddup2(&actions, stream->descriptor(), i++);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int trouble = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (trouble != 0)
    throw NoGnuplot(Exit::failed, format("no plots: {} cannot be started ({}). {}", command[0],
                                         std::strerror(trouble), hint));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(Exit::failed, "cannot wait for {}: {}", command[0], std::strerror(errno));
  if (WIFSIGNALED(status)) return format("it was ended by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : format("it ended with exit status {}", WEXITSTATUS(status));
}

// The output of a program for `content`. `is_whole` detects output that ends early.
std::string written_by(const std::vector<std::string>& command, const std::string& hint,
                       const std::string& content, bool (*is_whole)(std::string_view)) {
  MemoryFile input("plot input"), output("picture"), messages("plot messages");
  input.write(content);
  const std::string trouble = run(command, hint, {&input, &output, &messages});
  std::string picture = output.content();
  if (trouble.empty() && is_whole(picture)) return picture;
  const std::string said = trim(messages.content());
  fail(Exit::failed, "{} drew no complete picture: {}{}{}", command[0],
       trouble.empty() ? format("its output ends after {}", counted(picture.size(), "byte")) : trouble,
       said.empty() ? "" : ": ", said);
}

std::string drawn_by_gnuplot(const std::string& script, bool (*is_whole)(std::string_view)) {
  return written_by({"gnuplot", "-d"}, "Install gnuplot-nox and run voxswap report to draw them", script,
                    is_whole);
}

// PNG specification, 5.2.
constexpr std::string_view png_signature("\x89PNG\r\n\x1A\n", 8);

bool is_svg_and_png(std::string_view bytes) {
  const std::size_t png = bytes.find(png_signature);
  return png != bytes.npos && is_whole_picture(bytes.substr(0, png)) && is_whole_picture(bytes.substr(png));
}

// Fixes gnuplot's SVG: replaces its titles "Gnuplot" and "gnuplot_plot_1", which browsers show as tooltips,
// and escapes "]]>" in texts, which is invalid XML.
std::string tidied(std::string svg, const std::string& title) {
  replace_all(svg, "<title>Gnuplot</title>", format("<title>{}</title>", xml_escaped(title)));
  for (std::size_t at = 0; (at = svg.find("<title>gnuplot_plot_", at)) != svg.npos;)
    svg.erase(at, svg.find("</title>", at) + 8 - at);
  replace_all(svg, "]]>", "]]&gt;");
  return svg;
}

}  // namespace

std::string gnuplot(const std::string& script) {
  return drawn_by_gnuplot(script, is_whole_picture);
}

bool is_whole_picture(std::string_view bytes) {
  constexpr std::string_view end("\0\0\0\0IEND\xAE\x42\x60\x82", 12);  // the constant last chunk: 11.2.5
  if (bytes.starts_with(png_signature)) return bytes.ends_with(end);
  while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r')) bytes.remove_suffix(1);
  if (bytes.starts_with("%PDF-")) return bytes.ends_with("%%EOF");
  return bytes.find("<svg") != bytes.npos && bytes.ends_with("</svg>");
}

std::string gnuplot_text(std::string_view text) {
  std::string literal = "\"";
  for (const char c : as_utf8(text)) {
    if (c == '\n')
      literal += "\\n";
    else if (c == '\\' || c == '"')
      literal += {'\\', c};
    else if (c == '`')
      literal += "\\140";  // gnuplot executes text in backquotes even inside double quotes
    else
      literal += c == '\t' ? ' ' : c;
  }
  return literal + "\"";
}

std::string gnuplot_tic(std::string_view text) {
  std::string doubled(text);
  replace_all(doubled, "%", "%%");
  return gnuplot_text(doubled);
}

Picture draw(const std::string& plot, int width, int height, const std::string& title) {
  const std::string script = format(
                                 "set encoding utf8\n"
                                 "set border 3 lc rgb '{0}' lw 0.8\n"
                                 "set grid y lc rgb '{1}' lt 1 lw 0.6\n"
                                 "set tics textcolor rgb '{0}' nomirror scale 0.5\n"
                                 "set key textcolor rgb '{0}' samplen 1.5 spacing 1.15\n",
                                 plot_ink, plot_line) +
                             plot;
  // The PNG has twice the resolution of a screen, for printing.
  const std::string svg = format(
      "set terminal svg size {},{} dynamic font 'Helvetica,Arial,Liberation Sans,sans-serif,{}' noenhanced "
      "background '#ffffff'\n"
      "small = ',11'; point = 0.75\n",
      width, height, letter_height);
  const std::string png = format(
      "set terminal pngcairo size {},{} font 'Helvetica,10' fontscale 2 linewidth 2 pointscale 2 noenhanced "
      "background '#ffffff'\n"
      "small = ',8.5'; point = 1\n",
      2 * width, 2 * height);
  // One process draws both, which saves a start of gnuplot.
  const std::string both = drawn_by_gnuplot(svg + script + "\nreset\n" + png + script, is_svg_and_png);
  const std::size_t begin = both.find(png_signature);
  return {tidied(both.substr(0, begin), title), both.substr(begin), script, width, height};
}

PaperPicture draw_for_paper(const Picture& picture, double points) {
  const double scale = points / picture.width;  // points per pixel
  // pdfcairo's unit of fonts is 1/96 inch, that of lines half a point.
  const std::string terminal = format(
      "set terminal pdfcairo size {}in,{}in font 'Helvetica,{}' fontscale 0.75 linewidth {} pointscale {} "
      "noenhanced background '#ffffff'\n"
      "small = ',{}'; point = 0.75\n",
      points / 72, scale * picture.height / 72, scale * letter_height, 2 * scale, 1.2 * scale, scale * 11);
  const std::string pdf = gnuplot(terminal + picture.script);
  return {written_by({"pdftocairo", "-svg", "-", "-"}, "Install poppler-utils", pdf, is_whole_picture), pdf};
}

}  // namespace voxswap::pipeline
