#include "pipeline/record/generations.h"

#include <array>

#include "base/error.h"
#include "base/log.h"
#include "base/own_folder.h"

namespace voxswap::pipeline {

namespace {

// Files that belong to a `last`; its metadata contains their digests under these names.
constexpr std::array<const char*, 2> kept_names = {best_weights_name, averaged_weights_name};

fs::path kept(const fs::path& folder, const char* name) {
  return folder / (std::string(name) + ".safetensors");
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

// Creates a hard link, replacing an existing file. If the file system has no hard links, renames the file
// instead.
void give_name(const fs::path& file, const fs::path& name) {
  error_code error;
  if (fs::equivalent(file, name, error)) return;
  remove_own(name);
  fs::create_hard_link(file, name, error);
  if (error) fs::rename(file, name, error);
  if (error) fail(Exit::failed, "{}: cannot be created: {}", name.string(), error.message());
}

void keep(const fs::path& file) {
  if (is_there(file)) give_name(file, previous(file));
}

[[noreturn]] void fail_missing(const fs::path& file) {
  fail(Exit::bad_data,
       "{}: is missing, although the run wrote it. Restore it from a copy; or remove {} and train again with "
       "voxswap run ... --resume",
       file.string(), file.parent_path().string());
}

std::optional<std::string> digest_of(const fs::path& file) {
  try {
    return read_checkpoint_header(file).digest;
  } catch (const Error&) {
    return std::nullopt;  // damaged: reported when it is needed
  }
}

// Finds the file with this name and digest.
fs::path find_kept(const fs::path& folder, const char* name, const std::string& digest) {
  const fs::path best = kept(folder, name);
  for (const fs::path& file : {best, previous(best)}) {
    if (is_there(file) && digest_of(file) == digest) return file;
  }
  if (!is_there(best)) fail_missing(best);
  read_checkpoint(best);  // throws if it is damaged
  fail(Exit::bad_data,
       "{}: is not the {} that belongs to {}, but an older one or another run's. Restore the one of this "
       "run; or remove {} and train again with voxswap run ... --resume",
       best.string(), name, last_of(folder).filename().string(), folder.string());
}

struct Usable {
  Checkpoint last;
  std::array<fs::path, kept_names.size()> files;  // empty path if there is none yet
};

Usable read_generation(const fs::path& folder, const fs::path& file, const Generations::Check& check_last,
                       const Generations::Check& check_best) {
  Usable usable{read_checkpoint(file), {}};
  check_last(usable.last, file.string());
  usable.last.text(best_weights_name, file.string());  // required
  for (std::size_t i = 0; i < kept_names.size(); ++i) {
    const std::string digest = usable.last.entry(kept_names[i]);
    if (digest.empty()) continue;
    usable.files[i] = find_kept(folder, kept_names[i], digest);
    check_best(read_checkpoint(usable.files[i]), usable.files[i].string());
  }
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
        log::warn("{}. Resuming from {}, the checkpoint before it", trouble, file.filename().string());
        give_name(file, newest);
      }
      for (std::size_t i = 0; i < kept_names.size(); ++i) {
        const fs::path named = kept(folder_, kept_names[i]);
        if (!usable.files[i].empty() && usable.files[i] != named) give_name(usable.files[i], named);
      }
      best_digest_ = usable.last.entry(best_weights_name);
      averaged_digest_ = usable.last.entry(averaged_weights_name);
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
  keep(kept(folder_, best_weights_name));
  best_digest_ = write_checkpoint(kept(folder_, best_weights_name), best);
}

void Generations::write_averaged(const Checkpoint& averaged) {
  keep(kept(folder_, averaged_weights_name));
  averaged_digest_ = write_checkpoint(kept(folder_, averaged_weights_name), averaged);
}

void Generations::write_last(Checkpoint last) {
  last.metadata[best_weights_name] = best_digest_;
  if (!averaged_digest_.empty()) last.metadata[averaged_weights_name] = averaged_digest_;
  keep(last_file());
  write_checkpoint(last_file(), last);
}

namespace {

// The newest `last` with a readable header; `trouble`: error of the others.
std::optional<Checkpoint> newest_last(const fs::path& folder, std::string& trouble) {
  for (const fs::path& file : {last_of(folder), previous(last_of(folder))}) {
    if (!is_there(file)) continue;
    try {
      return read_checkpoint_header(file);
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_averaged(const fs::path& folder) {
  std::string trouble;
  const std::optional<Checkpoint> last = newest_last(folder, trouble);
  return last ? !last->entry(averaged_weights_name).empty() : is_there(kept(folder, averaged_weights_name));
}

Checkpoint read_best(const fs::path& folder, const Generations::Check& check, const char* name) {
  const fs::path best = kept(folder, name);
  std::string trouble;
  const std::optional<Checkpoint> last = newest_last(folder, trouble);
  if (!last && !is_there(best))
    fail(
        Exit::bad_data,
        "{}: does not exist: no epoch of this run is finished yet. Continue it with voxswap run ... --resume",
        best.string());
  if (!last && !trouble.empty())
    log::warn("{}. It cannot be verified that {} is the newest", trouble, best.filename().string());
  fs::path file = best;
  const bool of_others = is_there(best) && digest_of(best) == "";
  if (last && !of_others) {
    const auto entry = last->metadata.find(name);
    if (entry != last->metadata.end() && entry->second.empty())
      fail(Exit::bad_data,
           "{}: no epoch of this run is finished yet. Continue it with voxswap run ... --resume",
           folder.string());
    if (entry != last->metadata.end()) file = find_kept(folder, name, entry->second);
    if (!is_there(file)) fail_missing(file);
  }
  Checkpoint read = read_checkpoint(file);
  if (!read.digest.empty()) check(read, file.string());
  return read;
}

}  // namespace voxswap::pipeline
