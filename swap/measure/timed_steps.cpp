#include "swap/measure/timed_steps.h"

#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "base/philox.h"
#include "base/shape.h"
#include "net/networks/networks.h"
#include "net/steps/step.h"
#include "swap/measure/noise.h"

namespace voxswap::swap {
namespace {

// Fills with numbers between 0.5 and 1 of either sign, so that no kernel meets a denormal or a NaN, which can
// be slow. Random bits serve all floating point types alike; a block of them is repeated, which is faster.
template <class Bits>
void fill_random(std::vector<std::byte>& bytes, int mantissa, std::uint64_t exponent) {
  const Philox random(1, 2);
  const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Bits) - 1);
  const std::uint64_t fraction = (std::uint64_t{1} << mantissa) - 1;
  const std::size_t different = std::min(bytes.size(), sizeof(Bits) << 16);
  for (std::size_t i = 0; i < different / sizeof(Bits); ++i) {
    const std::uint64_t word = (std::uint64_t{random.word(2 * i)} << 32) | random.word(2 * i + 1);
    const auto bits = static_cast<Bits>((word >> 7 & sign) | (exponent << mantissa) | (word & fraction));
    std::memcpy(bytes.data() + i * sizeof(Bits), &bits, sizeof(Bits));
  }
  for (std::size_t i = different; i < bytes.size(); i += different)
    std::memcpy(bytes.data() + i, bytes.data(), std::min(different, bytes.size() - i));
}

std::vector<std::byte> input_content(const net::Value& value) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
  switch (value.type) {  // bits of the fraction; exponent of [0.5, 1)
    case net::ElementType::f64:
      fill_random<std::uint64_t>(bytes, 52, 1022);
      break;
    case net::ElementType::f32:
      fill_random<std::uint32_t>(bytes, 23, 126);
      break;
    case net::ElementType::bf16:
      fill_random<std::uint16_t>(bytes, 7, 126);
      break;
    case net::ElementType::f16:
      fill_random<std::uint16_t>(bytes, 10, 14);
      break;
    case net::ElementType::u8:  // labels in stripes, as bits
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>((1u << (i / 64 % 4)) & 7u);
      break;
  }
  return bytes;
}

// Initial weights and optimiser state.
void write_persistent(Executor& executor, const net::Graph& graph) {
  std::size_t position = 0;
  for (net::ValueId id = 0; index(id) < graph.values().size(); ++id) {
    const net::Value& value = graph.value(id);
    if (!value.persistent()) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(value.bytes()));
    const std::vector<float> numbers = value.role == net::Role::parameter
                                           ? net::initial_value(graph, id, position++, 1)
                                           : net::initial_state(graph, id);
    const std::vector<double> wide(numbers.begin(), numbers.end());
    if (value.type == net::ElementType::f64)
      std::memcpy(bytes.data(), wide.data(), bytes.size());
    else
      std::memcpy(bytes.data(), numbers.data(), bytes.size());
    executor.write(id, bytes.data(), value.bytes());
  }
}

// The median; the lower of the two in the middle for an even count.
double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + (static_cast<std::ptrdiff_t>(seconds.size()) - 1) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace

TimedSteps::TimedSteps(CompiledGraph& compiled, const Plan& plan, const Tiers& tiers)
    : graph_(compiled.graph()), executor_(compiled, plan, tiers, {.serial = true}) {
  for (const net::ValueId id : graph_.with_role(net::Role::input))
    inputs_.emplace_back(id, input_content(graph_.value(id)));
  write_persistent(executor_, graph_);
  forget();
}

const StepReport& TimedSteps::run() {
  throw_if_interrupted();
  for (const auto& [id, bytes] : inputs_)  // their memory is reused within a step
    executor_.lend(id, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  return executor_.run({1, 1, 0});
}

void TimedSteps::run_and_time() {
  const StepReport& report = run();
  const std::vector<Instruction>& instructions = executor_.plan().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].kind != Instruction::Kind::run) continue;
    node_seconds_[index(instructions[i].node)].push_back(report.end[i] - report.begin[i]);
  }
  all_seconds_ += report.seconds;
  compute_seconds_.push_back(report.compute_seconds);
}

void TimedSteps::forget() {
  node_seconds_.assign(graph_.nodes().size(), {});
  compute_seconds_.clear();
  all_seconds_ = 0;
}

double TimedSteps::usual_compute_seconds() const {
  return median(compute_seconds_);
}

double TimedSteps::spread() const {
  return swap::spread(compute_seconds_);
}

std::vector<double> TimedSteps::node_seconds() const {
  std::vector<double> medians;
  for (const std::vector<double>& seconds : node_seconds_) medians.push_back(median(seconds));
  return medians;
}

}  // namespace voxswap::swap
