#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_writing(const fs::path& path, int code) {
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) {
    fail(Exit::does_not_fit, "{}: {} while writing; the previous version, if any, is untouched. Free some space and "
         "run again with --resume", path.string(), std::strerror(code));
  }
  fail(Exit::failed, "{}: cannot write: {}", path.string(), std::strerror(code));
}

// An open file descriptor of a temporary neighbour, removed unless renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target), path_(target.parent_path() / format(".{}.{}.part", target.filename().string(), ::getpid())) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail_writing(target_, errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(const void* bytes, size_t size) {
    const char* position = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, position, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing(target_, errno);
      position += written;
      size -= static_cast<size_t>(written);
    }
  }
  void commit() {
    if (::fsync(descriptor_) != 0) fail_writing(target_, errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
    renamed_ = true;
  }

 private:
  fs::path target_, path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_file(const fs::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.append(content.data(), content.size());
  file.commit();
}

void write_file(const fs::path& path, const std::function<void(const Append&)>& produce) {
  TemporaryFile file(path);
  produce([&](const void* bytes, size_t size) { file.append(bytes, size); });
  file.commit();
}

void write_through(const fs::path& path, const std::function<void(const fs::path&)>& produce) {
  const fs::path temporary = path.parent_path() / format(".part{}.{}", ::getpid(), path.filename().string());
  try {
    produce(temporary);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail_writing(path, code);
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || fs::is_directory(path)) {
    fail(Exit::bad_data, "{}: cannot be read: {}", path.string(),
         fs::exists(path) ? (fs::is_directory(path) ? "it is a directory" : std::strerror(errno)) : "no such file");
  }
  std::ostringstream content;
  content << stream.rdbuf();
  return std::move(content).str();
}

void make_writable_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error || !fs::is_directory(directory)) {
    fail(Exit::failed, "{}: cannot make this directory: {}", directory.string(),
         error ? error.message() : "a file of this name is in the way");
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    fail(Exit::failed, "{}: not writable: {}. Choose another with --out", directory.string(), std::strerror(errno));
  }
}

Hasher::Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_)); }
Hasher::~Hasher() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

Hasher& Hasher::add(const void* bytes, size_t size) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes, size);
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  const std::uint64_t size = text.size();
  return add(&size, sizeof size).add(text.data(), text.size());
}

Hasher& Hasher::add_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(Exit::bad_data, "{}: cannot be read: {}", path.string(), std::strerror(errno));
  std::vector<char> buffer(1 << 20);
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    add(buffer.data(), static_cast<size_t>(stream.gcount()));
  }
  return *this;
}

std::string Hasher::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace voxswap
