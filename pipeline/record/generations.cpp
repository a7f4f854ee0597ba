#include "pipeline/record/generations.h"

#include "base/error.h"
#include "base/filesystem.h"
#include "base/log.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* best_key = "best";  // of last's metadata

fs::path best_of(const fs::path& folder) {
  return folder / "best.safetensors";
}
fs::path last_of(const fs::path& folder) {
  return folder / "last.safetensors";
}
fs::path previous(const fs::path& file) {
  return file.parent_path() / (file.stem().string() + ".previous" + file.extension().string());
}

bool is_there(const fs::path& file) {
  error_code ignored;
  return fs::exists(file, ignored);
}

// A second name for the file, in place of what had it. Where the file system has no second names, the first
// one is given up.
void give_name(const fs::path& file, const fs::path& name) {
  error_code error;
  if (fs::equivalent(file, name, error)) return;
  fs::remove(name, error);
  fs::create_hard_link(file, name, error);
  if (error) fs::rename(file, name, error);
  if (error) fail(Exit::failed, "{}: cannot be made: {}", name.string(), error.message());
}

void keep(const fs::path& file) {
  if (is_there(file)) give_name(file, previous(file));
}

[[noreturn]] void fail_missing_best(const fs::path& folder) {
  fail(Exit::bad_data,
       "{}: is missing, though the run had it: put it back from a copy; or remove {}, and voxswap run ... "
       "--resume trains again",
       best_of(folder).string(), folder.string());
}

std::optional<std::string> digest_of(const fs::path& file) {
  try {
    return read_checkpoint_header(file).digest;
  } catch (const Error&) {
    return std::nullopt;  // damaged: whoever needs it will say so
  }
}

// Which file is the best that a `last` tells of.
fs::path find_best(const fs::path& folder, const std::string& digest) {
  const fs::path best = best_of(folder);
  for (const fs::path& file : {best, previous(best)}) {
    if (is_there(file) && digest_of(file) == digest) return file;
  }
  if (!is_there(best)) fail_missing_best(folder);
  read_checkpoint(best);  // says what is wrong, if it is damaged
  fail(Exit::bad_data,
       "{}: is not the best that {} tells of, but an older one or another run's: put back the one of this "
       "run; or remove {}, and voxswap run ... --resume trains again",
       best.string(), last_of(folder).filename().string(), folder.string());
}

struct Usable {
  Checkpoint last;
  fs::path last_file, best_file;  // no best: no epoch was finished
};

Usable read_generation(const fs::path& folder, const fs::path& file, const Generations::Check& check_last,
                       const Generations::Check& check_best) {
  Usable usable{read_checkpoint(file), file, {}};
  check_last(usable.last, file.string());
  const std::string digest = usable.last.text(best_key, file.string());
  if (digest.empty()) return usable;
  usable.best_file = find_best(folder, digest);
  check_best(read_checkpoint(usable.best_file), usable.best_file.string());
  return usable;
}

}  // namespace

fs::path Generations::last_file() const {
  return last_of(folder_);
}

std::optional<Checkpoint> Generations::resume(const Check& check_last, const Check& check_best) {
  const fs::path newest = last_file();
  std::string trouble;
  for (const fs::path& file : {newest, previous(newest)}) {
    if (!is_there(file)) {
      if (file == newest) trouble = format("{}: is missing", file.string());
      continue;
    }
    try {
      Usable usable = read_generation(folder_, file, check_last, check_best);
      if (file != newest) {
        log::warn("{}; going on from {}, the checkpoint before it", trouble, file.filename().string());
        give_name(file, newest);
      }
      if (!usable.best_file.empty() && usable.best_file != best_of(folder_))
        give_name(usable.best_file, best_of(folder_));
      best_digest_ = usable.last.text(best_key, file.string());
      return std::move(usable.last);
    } catch (const Error& error) {
      if (error.exit() != Exit::bad_data) throw;
      if (trouble.empty()) trouble = error.what();
    }
  }
  if (!is_there(newest) && !is_there(previous(newest))) return std::nullopt;
  throw Error(Exit::bad_data, trouble);
}

void Generations::write_best(const Checkpoint& best) {
  keep(best_of(folder_));
  best_digest_ = write_checkpoint(best_of(folder_), best);
}

void Generations::write_last(Checkpoint last) {
  last.metadata[best_key] = best_digest_;
  keep(last_file());
  write_checkpoint(last_file(), last);
}

Checkpoint read_best(const fs::path& folder, const Generations::Check& check) {
  const fs::path best = best_of(folder);
  std::optional<Checkpoint> last;
  std::string trouble;
  for (const fs::path& file : {last_of(folder), previous(last_of(folder))}) {
    if (last || !is_there(file)) continue;
    try {
      last = read_checkpoint_header(file);
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  if (!last && !is_there(best))
    fail(Exit::bad_data,
         "{}: is not there: no epoch of this run is finished yet; voxswap run ... --resume continues it",
         best.string());
  if (!last && !trouble.empty())
    log::warn("{}; whether {} is the newest cannot be told", trouble, best.filename().string());
  fs::path file = best;
  const bool of_others = is_there(best) && digest_of(best) == "";
  if (last && !of_others) {
    const auto told = last->metadata.find(best_key);
    if (told != last->metadata.end() && told->second.empty())
      fail(Exit::bad_data, "{}: no epoch of this run is finished yet; voxswap run ... --resume continues it",
           folder.string());
    if (told != last->metadata.end()) file = find_best(folder, told->second);
    if (!is_there(file)) fail_missing_best(folder);
  }
  Checkpoint read = read_checkpoint(file);
  if (!read.digest.empty()) check(read, file.string());
  return read;
}

}  // namespace voxswap::pipeline
