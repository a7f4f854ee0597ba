#include "net/backends/cuda/convolution_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/float16.h"
#include "base/log.h"
#include "base/philox.h"
#include "net/backends/cuda/libraries.h"
#include "net/backends/cuda/runtime.h"

namespace voxswap::net::cuda {

namespace {

constexpr float much_slower = 1.3F;
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

// Generated once: every trial uses the same numbers.
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
  std::int64_t first = 0;
  for (Block* block : {&x_, &y_, &w_, &bias_})
    block->first = std::exchange(first, first + pattern_elements / 5);
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
    cudaGetLastError();  // clears the error
  }
  return block;
}

// Repeats the pattern from `first` on; each copy is twice as long as the previous one.
void ConvolutionTrial::fill(const Block& block) {
  const std::int64_t size = element_bytes(problem_.type);
  auto* const to = static_cast<std::byte*>(block.data);
  const auto copy = [&](std::byte* target, const void* from, std::int64_t elements) {
    check(cudaMemcpyAsync(target, from, static_cast<std::size_t>(elements * size), cudaMemcpyDeviceToDevice,
                          stream_),
          "cudaMemcpyAsync");
  };
  std::int64_t done = std::min(block.elements, pattern_elements - block.first);
  copy(to, static_cast<const std::byte*>(pattern_.data) + block.first * size, done);
  while (done < block.elements) {
    const std::int64_t next = std::min(done, block.elements - done);
    copy(to + done * size, to, next);
    done += next;
  }
}

void ConvolutionTrial::fill_all() {
  for (const Block& block : {x_, y_, w_, bias_}) fill(block);
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

double ConvolutionTrial::error(const std::shared_ptr<const ConvolutionPlan>& plan) {
  const auto numbers = [](const Block& block) {
    return RepeatedNumbers{random_numbers().data() + block.first, pattern_elements - block.first};
  };
  if (checked_.empty())
    checked_ = checked_elements(problem_, numbers(x_), numbers(w_), numbers(y_), numbers(bias_));
  fill_all();
  ConvolutionRunner runner(plan);
  const CurrentStream current(stream_);
  runner.run(device_.libraries->cudnn(), run_places());
  const auto size = static_cast<std::size_t>(element_bytes(problem_.type));
  std::vector<std::byte> bytes(checked_.size() * size);
  const auto* const from = static_cast<const std::byte*>(result_block().data);
  for (std::size_t i = 0; i < checked_.size(); ++i)
    check(cudaMemcpyAsync(bytes.data() + i * size, from + static_cast<std::size_t>(checked_[i].place) * size,
                          size, cudaMemcpyDefault, stream_),
          "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  const std::vector<float> found = loaded(bytes, problem_.type);
  double largest = 0;
  for (std::size_t i = 0; i < checked_.size(); ++i) {
    const double distance = std::abs(found[i] - checked_[i].value) / std::max(checked_[i].size, 1e-3);
    if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, distance);
  }
  return largest;
}

std::shared_ptr<const ConvolutionPlan> fastest(
    const std::vector<std::shared_ptr<const ConvolutionPlan>>& plans, const ConvolutionProblem& problem,
    const Device& device) {
  std::int64_t most = 0;
  for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
  ConvolutionTrial trial(problem, most, device);
  if (!trial.has_memory()) return plans[0];
  float least = std::numeric_limits<float>::max();
  std::vector<std::pair<float, std::shared_ptr<const ConvolutionPlan>>> by_time;
  for (const auto& plan : plans) {
    const std::optional<float> time = trial.milliseconds(plan, least);
    if (!time) continue;
    least = std::min(least, *time);
    by_time.emplace_back(*time, plan);
  }
  const auto faster = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(by_time.begin(), by_time.end(), faster);
  std::shared_ptr<const ConvolutionPlan> most_exact;
  double least_error = 1;
  for (const auto& [time, plan] : by_time) {
    const double error = trial.error(plan);
    if (error <= largest_error) return plan;
    log::warn("{} is avoided for a convolution {}: its results are off by {:.2g} of their size", plan->name,
              problem.text(), error);
    if (error < least_error) least_error = error, most_exact = plan;
  }
  return most_exact;
}

}  // namespace voxswap::net::cuda
