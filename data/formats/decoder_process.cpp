// The client: starts decoder processes, keeps them and sends requests.
#include "data/formats/decoder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/program.h"
#include "base/text.h"

extern char** environ;

namespace voxswap::data {

namespace {

// Searches next to the program, or next to the shared library if this code is in one: ../bin for a build and
// a wheel, voxswap/ when installed, and the parent folder for variants of the program in subfolders.
fs::path decoder_program() {
  const fs::path folder = program_folder();
  for (const char* place : {".", "../bin", "voxswap", ".."}) {
    const fs::path program = folder / place / "voxswap-decode";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  fail(Exit::failed,
       "{}: the program voxswap-decode, which reads pictures and compressed DICOM, is missing. "
       "Install voxswap again",
       folder.string());
}

class DecoderProcess {
 public:
  DecoderProcess();
  ~DecoderProcess();
  DecoderProcess(const DecoderProcess&) = delete;
  DecoderProcess& operator=(const DecoderProcess&) = delete;

  // Throws the error that the decoder reports, or one that says how the process ended.
  std::string ask(const DecodeRequest& request);
  bool is_new() const { return answers_ == 0; }
  pid_t owner() const { return owner_; }

 private:
  bool send_all(const std::string& bytes) const;
  bool receive(char* bytes, std::size_t size) const;
  [[noreturn]] void crashed(const fs::path& path);

  Descriptor socket_;
  pid_t process_ = -1;
  pid_t owner_ = ::getpid();
  std::int64_t answers_ = 0;
};

DecoderProcess::DecoderProcess() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail(exit_of(errno), "cannot start a decoder: {}", std::strerror(errno));
  socket_ = Descriptor(ends[0]);
  const Descriptor other(ends[1]);
  const std::string program = decoder_program().string();
  char name[] = "voxswap-decode";
  char* arguments[] = {name, nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, other.number(), STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})  // libraries print messages about files
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  const int trouble = ::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (trouble != 0) fail(exit_of(trouble), "{}: cannot be started: {}", program, std::strerror(trouble));
}

// In a fork of this process, the decoder belongs to the parent.
DecoderProcess::~DecoderProcess() {
  if (process_ <= 0 || owner_ != ::getpid()) return;
  ::kill(process_, SIGKILL);
  uninterrupted([&] { return ::waitpid(process_, nullptr, 0); });
}

bool DecoderProcess::send_all(const std::string& bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = uninterrupted(
        [&] { return ::send(socket_.number(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

bool DecoderProcess::receive(char* bytes, std::size_t size) const {
  for (std::size_t done = 0; done < size;) {
    pollfd readable{socket_.number(), POLLIN, 0};
    constexpr int milliseconds = 200;
    while (::poll(&readable, 1, milliseconds) == 0) throw_if_interrupted();
    const ssize_t got = uninterrupted([&] { return ::recv(socket_.number(), bytes + done, size - done, 0); });
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

void DecoderProcess::crashed(const fs::path& path) {
  int status = 0;
  uninterrupted([&] { return ::waitpid(std::exchange(process_, -1), &status, 0); });
  throw_if_interrupted();
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), signal = code - 128;
  if (signal == SIGKILL)  // how the system reacts to a lack of memory
    fail(Exit::does_not_fit, "{}: not enough memory to read it: its decoder was killed. Free some memory",
         path.string());
  const bool slow = signal == SIGXCPU || signal == SIGALRM;
  fail(Exit::bad_data, "{}: is damaged: its decoder {}. Fetch or copy the file again", path.string(),
       slow         ? "exceeded its time limit"
       : signal > 0 ? format("ended by signal {} ({})", signal, ::strsignal(signal))
                    : format("ended with {}", code));
}

std::string DecoderProcess::ask(const DecodeRequest& request) {
  DecodeReply reply;
  if (!send_all(request_bytes(request)) || !receive(reinterpret_cast<char*>(&reply), sizeof reply))
    crashed(request.path);
  std::string content(reply.size, '\0');
  if (!receive(content.data(), content.size())) crashed(request.path);
  if (reply.exit != 0) throw Error(static_cast<Exit>(reply.exit), content);
  ++answers_;
  return content;
}

// Waiting processes; at most as many as threads that ever asked at the same time.
struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<DecoderProcess>> waiting;
};

Pool& pool() {
  static Pool processes;
  return processes;
}

std::unique_ptr<DecoderProcess> take_process() {
  {
    const std::lock_guard lock(pool().mutex);
    auto& waiting = pool().waiting;
    if (!waiting.empty() && waiting.back()->owner() != ::getpid()) waiting.clear();
    if (!waiting.empty()) {
      std::unique_ptr<DecoderProcess> process = std::move(waiting.back());
      waiting.pop_back();
      return process;
    }
  }
  return std::make_unique<DecoderProcess>();
}

std::string ask(DecodeRequest request) {
  error_code gone;
  request.folder = fs::current_path(gone).string();
  std::unique_ptr<DecoderProcess> process = take_process();
  std::string content;
  try {
    content = process->ask(request);
  } catch (const Error& error) {
    if (process->is_new() || error.exit() == Exit::interrupted) throw;
    process = std::make_unique<DecoderProcess>();
    content = process->ask(request);
  }
  const std::lock_guard lock(pool().mutex);
  pool().waiting.push_back(std::move(process));
  return content;
}

// "WIDTH HEIGHT VOLUMES ELEMENT\n", followed by the voxels, if any.
ImageHeader take_header(std::string_view& content) {
  const auto end = content.find('\n');
  std::istringstream line{std::string(content.substr(0, end))};
  ImageHeader header;
  header.geometry.size = {0, 0, 1};
  line >> header.geometry.size[0] >> header.geometry.size[1] >> header.volumes >> header.element;
  content.remove_prefix(end + 1);
  return header;
}

std::vector<Image> images_of(const fs::path& path, std::string_view content) {
  const ImageHeader header = take_header(content);
  const auto volumes = static_cast<std::size_t>(header.volumes);
  if (content.size() != volumes * static_cast<std::size_t>(header.geometry.count()) * sizeof(float))
    fail(Exit::bad_data, "{}: is damaged: its decoder failed. Fetch or copy the file again", path.string());
  std::vector<Image> images(volumes);
  for (Image& image : images) {
    image.geometry = header.geometry;
    image.voxels.resize(static_cast<std::size_t>(image.geometry.count()));
    const std::size_t bytes = image.voxels.size() * sizeof(float);
    std::memcpy(image.voxels.data(), content.data(), bytes);
    content.remove_prefix(bytes);
  }
  return images;
}

}  // namespace

std::string request_bytes(const DecodeRequest& request) {
  const std::string text = join({std::to_string(static_cast<int>(request.kind)), request.folder, request.path,
                                 std::to_string(request.first), std::to_string(request.count)},
                                std::string_view("\0", 1));
  const auto size = static_cast<std::uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

DecodeRequest request_of(const std::string& bytes) {
  const std::vector<std::string> parts = split(bytes, '\0');
  return {static_cast<DecodeRequest::Kind>(std::stoi(parts[0])), parts[1], parts[2], std::stoll(parts[3]),
          std::stoll(parts[4])};
}

ImageHeader decoded_header(const fs::path& path) {
  const std::string content = ask({DecodeRequest::Kind::raster_header, {}, path.string()});
  std::string_view rest = content;
  return take_header(rest);
}

std::vector<Image> decoded_volumes(const fs::path& path, const ChooseVolumes& choose) {
  const auto [first, count] = choose(decoded_header(path));
  return images_of(path, ask({DecodeRequest::Kind::raster_volumes, {}, path.string(), first, count}));
}

Image decoded_labels(const fs::path& path) {
  return std::move(
      images_of(path, ask({DecodeRequest::Kind::raster_labels, {}, path.string(), 0, 1})).front());
}

std::vector<float> decoded_slice(const fs::path& path) {
  return std::move(
      images_of(path, ask({DecodeRequest::Kind::dicom_slice, {}, path.string()})).front().voxels);
}

}  // namespace voxswap::data
