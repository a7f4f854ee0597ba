#include "pipeline/predict/case_reader.h"

#include <system_error>
#include <utility>

#include "net/backends/cpu/host_device.h"

namespace voxswap::pipeline {

namespace {

// A case in preparation holds its files' volumes, cropped and resampled ones, and filters' copies.
constexpr std::int64_t times_prepared = 16;

std::int64_t bytes_of(const data::PreparedCase& prepared) {
  return static_cast<std::int64_t>(prepared.image.size() * sizeof(float));
}

}  // namespace

CaseReader::CaseReader(std::size_t count, std::function<data::PreparedCase(std::size_t)> read, bool ahead)
    : count_(count), read_(std::move(read)), reads_ahead_(ahead) {}

data::PreparedCase CaseReader::next() {
  const std::size_t index = taken_++;
  data::PreparedCase found = ahead_.valid() ? ahead_.get() : read_(index);
  if (!reads_ahead_ || taken_ == count_ || times_prepared * bytes_of(found) > net::free_host_bytes())
    return found;
  try {
    ahead_ = std::async(std::launch::async, read_, taken_);
  } catch (const std::system_error&) {
    // No thread can be started; the next call reads the case.
  }
  return found;
}

}  // namespace voxswap::pipeline
