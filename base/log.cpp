#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace voxswap::log {

namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("voxswap", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%^%v%$");
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

}  // namespace

void set_level(Level level) {
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                  spdlog::level::err};
  logger().set_level(levels[static_cast<int>(level)]);
}

Level level() {
  switch (logger().level()) {
    case spdlog::level::trace:
    case spdlog::level::debug: return Level::debug;
    case spdlog::level::info: return Level::info;
    case spdlog::level::warn: return Level::warning;
    default: return Level::error;
  }
}

void write(Level level, const std::string& message) {
  switch (level) {
    case Level::debug: logger().debug("{}", message); break;
    case Level::info: logger().info("{}", message); break;
    case Level::warning: logger().warn("warning: {}", message); break;
    case Level::error: logger().error("error: {}", message); break;
  }
}

}  // namespace voxswap::log
