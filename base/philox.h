// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011).
//
// A draw is a pure function of (key, counter), so it can be repeated in any order, by any thread, on any
// device: a recomputed dropout draws the same mask, and a resumed run continues the same stream.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace voxswap {

class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;

  // `stream` and `substream` separate independent uses of one seed (step and node, epoch and case, …).
  constexpr Philox(std::uint64_t seed, std::uint64_t stream, std::uint32_t substream = 0)
      : seed_(seed), stream_(stream), substream_(substream) {}

  // Four random words at position `index` of the stream.
  constexpr Block block(std::uint32_t index) const {
    const Key start = key();
    Block counter = {index, start.counter[1], start.counter[2], start.counter[3]};
    std::uint32_t key0 = start.key[0], key1 = start.key[1];
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t a = std::uint64_t{multiplier_0} * counter[0],
                          b = std::uint64_t{multiplier_2} * counter[2];
      counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b),
                 static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(a)};
      key0 += key_step_0;
      key1 += key_step_1;
    }
    return counter;
  }

  // The initial state of block(), for code that computes many blocks at once. counter[0] is the block's
  // index.
  struct Key {
    std::uint32_t counter[4], key[2];
  };
  constexpr Key key() const {
    return {{0, substream_, static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
            {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
  }
  static constexpr int rounds = 10;
  static constexpr std::uint32_t multiplier_0 = 0xD2511F53, multiplier_2 = 0xCD9E8D57;
  static constexpr std::uint32_t key_step_0 = 0x9E3779B9, key_step_1 = 0xBB67AE85;

  constexpr std::uint32_t word(std::uint64_t index) const {
    return block(static_cast<std::uint32_t>(index / 4))[static_cast<size_t>(index % 4)];
  }
  // Uniform in [0, 1), 24 bits.
  constexpr float uniform(std::uint64_t index) const {
    return static_cast<float>(word(index) >> 8) * 0x1.0p-24f;
  }
  // Standard normal, Box-Muller over words 2*index and 2*index+1.
  double normal(std::uint64_t index) const {
    const double u = (word(2 * index) + 0.5) * 0x1.0p-32, v = (word(2 * index + 1) + 0.5) * 0x1.0p-32;
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  std::uint64_t seed_, stream_;
  std::uint32_t substream_;
};

}  // namespace voxswap
