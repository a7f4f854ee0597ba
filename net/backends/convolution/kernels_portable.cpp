// Kernels for any processor: four lanes in the compiler's vector type.
#include "net/backends/convolution/filtered_rows.h"
#include "net/backends/convolution/filtered_weights.h"
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/sizes.h"
#include "net/backends/convolution/volume_rows.h"
#include "net/backends/convolution/weight_rows.h"

namespace voxswap::net::convolution {

namespace {

using Four = float __attribute__((vector_size(16)));

template <class T>
struct Portable {
  using Element = T;
  using Packed = float;
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

  // For weight gradients.
  static inline Factor load(const T* dy, std::int64_t, std::int64_t count) {
    if (count == lanes) return Four{widened(dy[0]), widened(dy[1]), widened(dy[2]), widened(dy[3])};
    Four some = {};
    for (std::int64_t i = 0; i < count; ++i) some[i] = widened(dy[i]);
    return some;
  }
  static inline Factor load_last(const T* dy, std::int64_t count) { return load(dy, 0, count); }
  static inline Four spread(const float* x) { return Four{*x, *x, *x, *x}; }
  static inline void add(float* to, Sum sum) {
    Four before;
    __builtin_memcpy(&before, to, sizeof before);
    before += sum;
    __builtin_memcpy(to, &before, sizeof before);
  }
  template <int P>
  static void pack(float* to, const T* x, const PackedRow& row) {
    pack_floats<P>(to, x, row);
  }
};

}  // namespace

const VolumeMaker volume_maker_portable[2] = {maker_of<Portable<float>>, maker_of<Portable<Bf16>>};
const FilteredMaker filtered_maker_portable = filtered_maker_of<Portable<float>>;
const AddWeightUnit add_filtered_unit_portable = add_filtered_unit<Portable<float>>;
const AddWeightUnit add_weight_unit_portable[2] = {add_weight_unit<Portable<float>>,
                                                   add_weight_unit<Portable<Bf16>>};

}  // namespace voxswap::net::convolution
