// Weight gradients for any processor: four lanes in the compiler's vector type.
#include "net/backends/convolution/pack.h"
#include "net/backends/convolution/weight_rows.h"
#include "net/backends/convolution/weight_units.h"

namespace voxswap::net::convolution {

namespace {

using Four = float __attribute__((vector_size(16)));

template <class T>
struct Portable {
  using Element = T;
  using Packed = float;
  using Sum = Four;
  using Factor = Four;
  static constexpr int lanes = 4, step = 1;
  static constexpr bool many_registers = false;

  static inline std::int64_t mask(std::int64_t count) { return count; }
  static inline Factor load(const T* dy, std::int64_t, std::int64_t count) {
    if (count == lanes) return Four{widened(dy[0]), widened(dy[1]), widened(dy[2]), widened(dy[3])};
    Four some = {};
    for (std::int64_t i = 0; i < count; ++i) some[i] = widened(dy[i]);
    return some;
  }
  static inline Factor load_last(const T* dy, std::int64_t count) { return load(dy, 0, count); }
  static inline Four spread(const float* x) { return Four{*x, *x, *x, *x}; }
  static inline Sum multiply_add(Sum sum, Factor dy, Four x) { return sum + dy * x; }
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

const AddWeightUnit add_weight_unit_portable[2] = {add_weight_unit<Portable<float>>,
                                                   add_weight_unit<Portable<Bf16>>};

}  // namespace voxswap::net::convolution
