#include "base/journal.h"

#include <fcntl.h>

#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace voxswap {

Journal::Journal(const fs::path& path) : path_(path) {
  make_directories(path.parent_path());
  file_ = Descriptor(path.string(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK);
  if (!file_.is_open())
    fail(exit_of(file_.error()), "{}: cannot be written: {}", path.string(),
         std::generic_category().message(file_.error()));
}

void Journal::add(std::string_view bytes) {
  if (!file_.is_open()) return;
  const int problem = write_all(file_.number(), bytes.data(), bytes.size());
  if (problem == 0) return;
  log::warn("{}: cannot be written, so further entries are lost: {}", path_.string(),
            std::generic_category().message(problem));
  file_ = Descriptor();
}

}  // namespace voxswap
