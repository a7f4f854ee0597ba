#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/run_log.h"
#include "base/terminal.h"

namespace voxswap::log {

namespace {

using Sinks = spdlog::sinks::dist_sink_mt;
using Kept = spdlog::sinks::ringbuffer_sink_mt;

constexpr std::size_t most_kept = 1000;  // messages kept until there is a file

// The terminal and, if messages are recorded, the file or the buffer for it.
struct Voice {
  std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> terminal;
  std::shared_ptr<Sinks> sinks = std::make_shared<Sinks>();
  std::shared_ptr<spdlog::sinks::sink> record;
  std::unique_ptr<spdlog::logger> logger;
  std::atomic<Level> shown = Level::info;

  Voice();
  void record_in(std::shared_ptr<spdlog::sinks::sink> sink);
  void resolve_levels();
};

void report_gaps(const std::string& why) {
  static std::atomic<bool> warned = false;
  if (warned.exchange(true)) return;
  std::fputs(printable("warning: the log file is incomplete: " + why + "\n").c_str(), stderr);
}

spdlog::level::level_enum as_spdlog(Level level) {
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                  spdlog::level::warn, spdlog::level::err};
  return levels[static_cast<int>(level)];
}

Voice::Voice()
    : terminal(std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
          without_colours() ? spdlog::color_mode::never : spdlog::color_mode::automatic)) {
  sinks->add_sink(terminal);
  logger = std::make_unique<spdlog::logger>("voxswap", sinks);
  terminal->set_pattern("%^%v%$");
  logger->flush_on(spdlog::level::debug);
  logger->set_error_handler(report_gaps);
  resolve_levels();
}

void Voice::record_in(std::shared_ptr<spdlog::sinks::sink> sink) {
  if (record) sinks->remove_sink(record);
  record = std::move(sink);
  record->set_pattern("%Y-%m-%d %H:%M:%S.%e  %v");
  sinks->add_sink(record);
  resolve_levels();
}

// A record contains at least info messages, even if the terminal shows fewer.
void Voice::resolve_levels() {
  const Level recorded = std::min<Level>(shown, Level::info);
  terminal->set_level(as_spdlog(shown));
  if (record) record->set_level(as_spdlog(recorded));
  logger->set_level(as_spdlog(record ? recorded : shown.load()));
}

Voice& voice() {
  static Voice instance;
  return instance;
}

}  // namespace

void set_level(Level level) {
  voice().shown = level;
  voice().resolve_levels();
}

Level level() {
  return voice().shown;
}

void begin_record(const std::string& title) {
  const auto kept = std::make_shared<Kept>(most_kept);
  voice().record_in(kept);
  kept->log({voice().logger->name(), spdlog::level::info, title});
}

void record_to(const fs::path& path) {
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
  if (error_code none; fs::exists(path, none) && !fs::is_regular_file(path, none))  // a pipe could block
    fail(Exit::failed, "{}: cannot be written: it is not a file", path.string());
  try {
    file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
  } catch (const spdlog::spdlog_ex& error) {
    fail(Exit::failed, "{}: cannot be written: {}", path.string(), error.what());
  }
  const auto kept = std::dynamic_pointer_cast<Kept>(voice().record);
  voice().record_in(file);
  try {
    if (kept)
      for (const auto& message : kept->last_raw()) file->log(message);
    file->flush();
  } catch (const spdlog::spdlog_ex& error) {
    report_gaps(error.what());
  }
}

void write(Level level, const std::string& text) {
  const std::string message = printable(text);
  spdlog::logger& logger = *voice().logger;
  if (level >= voice().shown) clear_line();
  switch (level) {
    case Level::debug:
      logger.debug("{}", message);
      break;
    case Level::info:
      logger.info("{}", message);
      break;
    case Level::warning:
      logger.warn("warning: {}", message);
      break;
    case Level::error:
      logger.error("error: {}", message);
      break;
  }
}

}  // namespace voxswap::log
