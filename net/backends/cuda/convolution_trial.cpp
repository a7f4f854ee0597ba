#include "net/backends/cuda/convolution_trial.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/float16.h"
#include "base/philox.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

namespace {

constexpr float much_slower = 1.3F;
constexpr std::int64_t piece = 16384;              // elements that lie together in a sample
constexpr std::int64_t pattern_elements = 262139;  // a prime: no row of a volume has as many

std::vector<std::byte> stored(const std::vector<float>& values, ElementType type) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(element_bytes(type)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t half = type == ElementType::bf16
                                   ? to_bfloat16(values[i])
                                   : (type == ElementType::f16 ? to_float16(values[i]) : 0);
    if (type == ElementType::f32)
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    else
      std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
  return bytes;
}

std::vector<float> loaded(const std::vector<std::byte>& bytes, ElementType type) {
  std::vector<float> values(bytes.size() / static_cast<std::size_t>(element_bytes(type)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half = 0;
    if (type == ElementType::f32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
      continue;
    }
    std::memcpy(&half, bytes.data() + 2 * i, 2);
    values[i] = type == ElementType::bf16 ? from_bfloat16(half) : from_float16(half);
  }
  return values;
}

// Made once: every trial starts from the same numbers.
const std::vector<float>& random_numbers() {
  static const std::vector<float> numbers = [] {
    const Philox random(2026, 1);
    std::vector<float> values(static_cast<std::size_t>(pattern_elements));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (static_cast<float>(random.word(i) % 257) - 128) / 128;
    return values;
  }();
  return numbers;
}

}  // namespace

ConvolutionTrial::ConvolutionTrial(const ConvolutionProblem& problem, std::int64_t workspace_bytes,
                                   const Device& device)
    : problem_(problem), device_(device) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "cudaEventCreate");
  const std::int64_t size = element_bytes(problem.type);
  x_ = take(problem.x.count(), size);
  y_ = take(problem.y.count(), size);
  w_ = take(problem.weights(), size);
  bias_ = take(problem.y[4], size);
  workspace_ = take(workspace_bytes, 1);
  pattern_ = take(pattern_elements, size);
  if (!has_memory()) return;
  const std::vector<std::byte> bytes = stored(random_numbers(), problem.type);
  check(cudaMemcpyAsync(pattern_.data, bytes.data(), bytes.size(), cudaMemcpyDefault, stream_),
        "cudaMemcpyAsync");
  fill_all();
}

ConvolutionTrial::~ConvolutionTrial() {
  cudaStreamSynchronize(stream_);
  for (const Block& block : {x_, y_, w_, bias_, workspace_, pattern_}) cudaFree(block.data);
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

bool ConvolutionTrial::has_memory() const {
  const auto all = {x_, y_, w_, bias_, workspace_, pattern_};
  return std::all_of(all.begin(), all.end(), [](const Block& block) { return block.data != nullptr; });
}

ConvolutionTrial::Block ConvolutionTrial::take(std::int64_t elements, std::int64_t element_bytes) {
  Block block;
  block.elements = elements;
  if (cudaMalloc(&block.data, static_cast<std::size_t>(
                                  std::max<std::int64_t>(elements * element_bytes, 1))) != cudaSuccess) {
    block.data = nullptr;
    cudaGetLastError();  // so that no later call reports it
  }
  return block;
}

// The pattern from `first` on, again and again, each copy twice as long as the one before.
void ConvolutionTrial::fill(const Block& block, std::int64_t first) {
  const std::int64_t size = element_bytes(problem_.type);
  auto* const to = static_cast<std::byte*>(block.data);
  const auto copy = [&](std::byte* target, const void* from, std::int64_t elements) {
    check(cudaMemcpyAsync(target, from, static_cast<std::size_t>(elements * size), cudaMemcpyDeviceToDevice,
                          stream_),
          "cudaMemcpyAsync");
  };
  std::int64_t done = std::min(block.elements, pattern_elements - first);
  copy(to, static_cast<const std::byte*>(pattern_.data) + first * size, done);
  while (done < block.elements) {
    const std::int64_t next = std::min(done, block.elements - done);
    copy(to + done * size, to, next);
    done += next;
  }
}

void ConvolutionTrial::fill_all() {
  std::int64_t first = 0;
  for (const Block& block : {x_, y_, w_, bias_}) {
    fill(block, first);
    first += pattern_elements / 5;
  }
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

ConvolutionRunner::Places ConvolutionTrial::run_places() const {
  const bool with_bias = problem_.start == ConvolutionProblem::Start::bias;
  return {x_.data, w_.data, y_.data, with_bias ? bias_.data : nullptr, workspace_.data};
}

std::optional<float> ConvolutionTrial::milliseconds(const std::shared_ptr<const ConvolutionPlan>& plan,
                                                    float least) {
  ConvolutionRunner runner(plan);
  const auto time = [&] {
    const CurrentStream current(stream_);
    check(cudaEventRecord(events_[0], stream_), "cudaEventRecord");
    runner.run(device_.libraries->cudnn(), run_places());
    check(cudaEventRecord(events_[1], stream_), "cudaEventRecord");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    float result = 0;
    check(cudaEventElapsedTime(&result, events_[0], events_[1]), "cudaEventElapsedTime");
    return result;
  };
  try {
    time();  // the first run loads code
    std::array<float, 3> times{};
    for (float& each : times) {
      each = time();
      if (each > much_slower * least) return each;
    }
    std::sort(times.begin(), times.end());
    return times[1];
  } catch (const Error&) {
    return std::nullopt;
  }
}

const ConvolutionTrial::Block& ConvolutionTrial::result_block() const {
  switch (problem_.kind) {
    case ConvolutionProblem::Kind::data_gradient:
      return x_;
    case ConvolutionProblem::Kind::weight_gradient:
      return w_;
    default:
      return y_;
  }
}

std::vector<std::int64_t> ConvolutionTrial::places(std::size_t most) const {
  const std::int64_t all = result_block().elements, wanted = std::min(all, static_cast<std::int64_t>(most));
  const std::int64_t pieces = (wanted + piece - 1) / piece;
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t length = std::min(piece, all);
    const std::int64_t begin = pieces == 1 ? 0 : (all - length) / (pieces - 1) * i;
    for (std::int64_t k = 0; k < length; ++k)
      result.push_back(i + 1 == pieces ? all - length + k : begin + k);
  }
  return result;
}

std::vector<float> ConvolutionTrial::result(const std::shared_ptr<const ConvolutionPlan>& plan,
                                            std::size_t most) {
  fill_all();
  ConvolutionRunner runner(plan);
  const CurrentStream current(stream_);
  runner.run(device_.libraries->cudnn(), run_places());
  const std::int64_t size = element_bytes(problem_.type);
  const std::vector<std::int64_t> wanted = places(most);
  std::vector<std::byte> bytes(wanted.size() * static_cast<std::size_t>(size));
  const auto* const from = static_cast<const std::byte*>(result_block().data);
  for (std::size_t i = 0; i < wanted.size();) {
    const std::size_t length = std::min(static_cast<std::size_t>(piece), wanted.size() - i);
    check(cudaMemcpyAsync(bytes.data() + i * static_cast<std::size_t>(size), from + wanted[i] * size,
                          length * static_cast<std::size_t>(size), cudaMemcpyDefault, stream_),
          "cudaMemcpyAsync");
    i += length;
  }
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return loaded(bytes, problem_.type);
}

std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device) {
  std::int64_t most = 0;
  for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
  ConvolutionTrial trial(problem, most, device);
  if (!trial.has_memory()) return plans[0];
  float least = std::numeric_limits<float>::max();
  std::shared_ptr<const ConvolutionPlan> best = plans[0];
  for (const auto& plan : plans) {
    const std::optional<float> time = trial.milliseconds(plan, least);
    if (!time || *time >= least) continue;
    least = *time;
    best = plan;
  }
  return best;
}

}  // namespace voxswap::net::cuda
