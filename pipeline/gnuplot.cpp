#include "pipeline/gnuplot.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

extern char** environ;

namespace voxswap {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Files without a name instead of pipes: three pipes and one reader would have to be interleaved with care.
File nameless_file() {
  File file(std::tmpfile());
  if (!file) fail(Exit::failed, "cannot make a temporary file for gnuplot: {}", std::strerror(errno));
  return file;
}

std::string content(std::FILE* file) {
  std::string bytes;
  char buffer[1 << 14];
  std::rewind(file);
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) bytes.append(buffer, n);
  return bytes;
}

// Returns the exit status.
int run(std::FILE* input, std::FILE* output, std::FILE* messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
  std::string name = "gnuplot", no_user_settings = "-d";
  char* arguments[] = {name.data(), no_user_settings.data(), nullptr};
  pid_t child = 0;
  const int trouble = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (trouble != 0) {
    throw NoGnuplot(Exit::failed,
                    format("there are no plots, because gnuplot cannot be started ({}): install gnuplot-nox, "
                           "then voxswap report draws them",
                           std::strerror(trouble)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string gnuplot(const std::string& script) {
  const File input = nameless_file(), output = nameless_file(), messages = nameless_file();
  if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0) {
    fail(Exit::does_not_fit, "cannot hand gnuplot its script: {}", std::strerror(errno));
  }
  std::rewind(input.get());
  const int status = run(input.get(), output.get(), messages.get());
  std::string picture = content(output.get());
  if (status != 0 || picture.empty()) {
    fail(Exit::failed, "gnuplot drew no picture: {}", trim(content(messages.get())));
  }
  return picture;
}

std::string gnuplot_text(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '\n') {
      literal += "\\n";
    } else if (c == '\\' || c == '"') {
      literal += '\\';
      literal += c;
    } else if (c == '`') {
      literal += '\'';  // gnuplot runs what stands between backquotes, even inside double quotes
    } else {
      literal += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
    }
  }
  return literal + "\"";
}

}  // namespace voxswap
