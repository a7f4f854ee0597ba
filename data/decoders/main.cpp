// voxswap-decode: reads 2D images and compressed DICOM slices for voxswap in a separate process, with limits
// per file (data/formats/decoder_process.h).
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/heap_retention.h"
#include "base/text.h"
#include "data/decoders/compressed_slice.h"
#include "data/decoders/raster.h"
#include "data/formats/decoder_process.h"
#include "data/formats/itk_buffer.h"

namespace voxswap::data {

namespace {

void limit(decltype(RLIMIT_AS) what, rlim_t most) {
  rlimit now{};
  ::getrlimit(what, &now);
  now.rlim_cur = std::min(most, now.rlim_max);
  ::setrlimit(what, &now);
}

// The limit before this process sets its own.
rlim_t memory_of_the_system() {
  rlimit given{};
  ::getrlimit(RLIMIT_AS, &given);
  return given.rlim_cur;
}

// Decoders hold several wider copies of `pixels`. Returns whether that is less than the system allows.
bool limit_memory(std::uintmax_t pixels) {
  static const rlim_t granted = memory_of_the_system();
  constexpr std::uintmax_t copies = 24, others = 1 << 30;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve much address space
  limit(RLIMIT_AS, std::min<rlim_t>(others + copies * pixels, granted));
#endif
  return others + copies * pixels < granted;
}

// Forbids writing and limits memory and time.
void set_limits(const fs::path& path) {
  error_code unknown;
  std::uintmax_t bytes = fs::file_size(path, unknown);
  if (unknown) bytes = 0;
  limit_memory(bytes);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  constexpr rlim_t seconds = 60, bytes_a_second = 1 << 20;
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::clock() / CLOCKS_PER_SEC) + seconds + bytes / bytes_a_second);
  ::alarm(3600);  // for a decoder that waits forever
}

std::string header_line(const Geometry& geometry, std::size_t volumes, const std::string& element) {
  return format("{} {} {} {}\n", geometry.size[0], geometry.size[1], volumes, element);
}

std::string answer_of(const std::vector<Image>& images) {
  std::string text = header_line(images.front().geometry, images.size(), "float32");
  for (const Image& image : images)
    text.append(reinterpret_cast<const char*>(image.voxels.data()), image.voxels.size() * sizeof(float));
  return text;
}

std::string answer(const DecodeRequest& request) {
  const fs::path path = request.path;
  using Kind = DecodeRequest::Kind;
  if (request.kind == Kind::dicom_slice) {
    const DicomSlice slice = open_slice(path);
    limit_memory(pixel_bytes(slice));
    return answer_of({{slice.geometry, decompressed_voxels(slice)}});
  }
  const RasterImage image = open_raster(
      path, request.kind == Kind::raster_labels ? RasterMeaning::numbers : RasterMeaning::brightness);
  const ImageHeader& header = image.header;
  if (request.kind == Kind::raster_header)
    return header_line(header.geometry, static_cast<std::size_t>(header.volumes), header.element);
  limit_memory(static_cast<std::uintmax_t>(header.geometry.count() * header.volumes) * sizeof(double));
  return answer_of(image.volumes({request.first, request.count}));
}

void send(const DecodeReply& head, const std::string& content) {
  if (write_all(STDIN_FILENO, &head, sizeof head) == 0)
    write_all(STDIN_FILENO, content.data(), content.size());
}

void send(Exit exit, const std::string& content) {
  send({content.size(), static_cast<std::int64_t>(exit)}, content);
}

void serve(const DecodeRequest& request) {
  try {
    if (::chdir(request.folder.c_str()) != 0) fail(Exit::failed, "{}: cannot be entered", request.folder);
    set_limits(request.path);
    std::string content;
    reading(request.path, [&] { content = answer(request); });
    send(Exit::done, content);
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit || !limit_memory(0)) return send(error.exit(), error.what());
    send(Exit::bad_data, format("{}: is damaged: it needs far more memory than its pixels. Fetch or copy the "
                                "file again",
                                request.path));
  }
}

// The next request; empty if the client has closed its end.
std::string next_request() {
  std::uint32_t size = 0;
  if (read_up_to(STDIN_FILENO, &size, sizeof size) != sizeof size) return {};
  std::string bytes(size, '\0');
  return read_up_to(STDIN_FILENO, bytes.data(), size) == static_cast<ssize_t>(size) ? bytes : std::string();
}

// Answers requests from standard input, a socket, until it is closed.
void serve_decoders() {
  const HeapRetention retention;
  // These signals are meant for the main program, which then closes its end.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) ::signal(signal, SIG_IGN);
  for (std::string bytes; !(bytes = next_request()).empty();) serve(request_of(bytes));
}

}  // namespace
}  // namespace voxswap::data

int main() {
  voxswap::data::serve_decoders();
}
