// The vectors of sixteen floats (net/backends/onednn/lanes.h) give the bits of single floats, with every
// instruction set that this processor has.
#include "net/backends/onednn/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/philox.h"

namespace voxswap::net::onednn {
namespace {

constexpr std::int64_t count = 4096, results = 9;

// Every function of a pair of numbers, the sums of both, and bf16 made of the first.
struct Made {
  std::vector<float> values = std::vector<float>(count * results);
  std::vector<Bf16> narrow = std::vector<Bf16>(count);
  std::vector<double> sums = std::vector<double>(2 * lane_count);
};

struct MakeAll {
  const float *a, *b;
  Made* made;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; i += lanes<Floats>) {
      const Floats x = load<Floats>(a + i), y = load<Floats>(b + i);
      const Floats exponential = exp_of_negative<Floats>(-magnitude(x));
      Bf16* const narrow = made->narrow.data() + i;
      store(narrow, x);
      const Floats all[results] = {exponential,
                                   sigmoid_from<Floats>(x, exponential),
                                   log_of_one_plus<Floats>(exponential),
                                   square_root(magnitude(y)),
                                   choose(x > y, x, y),
                                   choose(x == all_lanes<Floats>(1.0f), Floats(y / x), Floats(1.0f - x * y)),
                                   load<Floats>(narrow),
                                   log_of<Floats>(magnitude(y) + 1.0f),
                                   gathered<Floats>([&](std::int64_t lane) { return a[i + lane] + 1.0f; })};
      for (std::int64_t k = 0; k < results; ++k) store(made->values.data() + k * count + i, all[k]);
      const std::int64_t lane = i % lane_count;
      add_to(made->sums.data() + lane, x);
      add_to(made->sums.data() + lane_count + lane, y);
    }
  }
};

template <class T>
bool are_same(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i] && (found[i] == found[i] || expected[i] == expected[i])) return false;
  return true;
}

void expect_same(const Made& found, const Made& expected, const char* set) {
  EXPECT_TRUE(are_same(found.values, expected.values)) << set;
  EXPECT_TRUE(are_same(found.sums, expected.sums)) << set;
  for (std::size_t i = 0; i < found.narrow.size(); ++i)
    ASSERT_EQ(found.narrow[i].bits, expected.narrow[i].bits) << set << ", number " << i;
}

TEST(Lanes, GiveTheBitsOfSingleFloatsWithEveryInstructionSet) {
  const Philox random(1, 0);
  std::vector<float> a, b;
  for (const float special : {0.0f, -0.0f, 1.0f, 1e-40f, -3.4e38f, std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), std::nanf("")})
    a.push_back(special);
  while (std::ssize(a) < count)
    a.push_back(std::ldexp(random.uniform(a.size()) - 0.5f, static_cast<int>(a.size() % 16)));
  b.assign(a.rbegin(), a.rend());

  Made expected;
  MakeAll{a.data(), b.data(), &expected}.operator()<float>(0, count);
  const auto check = [&](auto run, const char* set) {
    Made found;
    run(MakeAll{a.data(), b.data(), &found}, 0, count);
    expect_same(found, expected, set);
  };
  check(run_baseline<MakeAll>, "baseline");
#if defined(__x86_64__)
  if (instruction_set() >= InstructionSet::avx2) check(run_avx2<MakeAll>, "avx2");
  if (instruction_set() == InstructionSet::avx512) check(run_avx512<MakeAll>, "avx512");
#endif
}

}  // namespace
}  // namespace voxswap::net::onednn
