// Convolutions for any processor: four lanes in the compiler's vector type.
#include "net/backends/convolution/filtered_rows.h"
#include "net/backends/convolution/filtered_weights.h"
#include "net/backends/convolution/round.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/volume_units.h"
#include "net/backends/convolution/weight_units.h"

namespace voxswap::net::convolution {

namespace {

using Four = float __attribute__((vector_size(16)));

template <class T>
struct Portable {
  using Element = T;
  using Sum = Four;
  using Factor = Four;
  static constexpr int lanes = 4, registers = 16, sums = 12, step = 1, word = sizeof(T);

  static inline Four load(const std::uint32_t* from) {
    Four four;
    __builtin_memcpy(&four, from, sizeof four);
    return four;
  }
  static inline Four spread(const char* x) {
    T one;
    __builtin_memcpy(&one, x, sizeof one);
    const float value = widened(one);
    return Four{value, value, value, value};
  }
  static inline Four multiply_add(Four sum, Four factor, Four x) { return sum + factor * x; }
  static inline void store(float* to, Four sum) { __builtin_memcpy(to, &sum, sizeof sum); }
  static inline std::int64_t mask(std::int64_t count) { return count; }
  static inline void finish(T* y, const float* sums, const float* bias, const T* start, std::int64_t count) {
    finish_lanes<lanes>(y, sums, bias, start, count);
  }
};

}  // namespace

const VolumeMaker volume_maker_portable[2] = {maker_of<Portable<float>>, maker_of<Portable<Bf16>>};
const FilteredMaker filtered_maker_portable = filtered_maker_of<Portable<float>>;
const AddWeightUnit add_filtered_unit_portable = add_filtered_unit<Portable<float>>;

}  // namespace voxswap::net::convolution
