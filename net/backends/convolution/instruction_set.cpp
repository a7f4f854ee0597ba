#include "net/backends/convolution/instruction_set.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace voxswap::net::convolution {

namespace {

constexpr const char* variable = "VOXSWAP_CONVOLUTIONS";
constexpr Instructions all[] = {Instructions::portable, Instructions::avx2, Instructions::avx512,
                                Instructions::avx512_bf16, Instructions::amx};

bool is_of_bf16(Instructions instructions) {
  return instructions == Instructions::avx512_bf16 || is_of_tiles(instructions);
}

#if defined(__x86_64__)
// CPUID leaf 7: tiles, and products of bf16.
bool has_tiles() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24;
  return (edx & bf16) != 0 && (edx & tiles) != 0;
}

// Linux saves the kilobytes of tiles only for processes that request it, once for all of their threads
// (arch/x86/xstate.rst of its documentation).
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool is_given = has_tiles() && ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return is_given;
#else
  return false;
#endif
}
#endif

bool has(Instructions instructions) {
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  switch (instructions) {
    case Instructions::portable:
      return true;
    case Instructions::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Instructions::avx512:
      return avx512;
    case Instructions::avx512_bf16:
      return avx512 && __builtin_cpu_supports("avx512bf16");
    case Instructions::amx:
      return avx512 && __builtin_cpu_supports("avx512bf16") && may_use_tiles();
    case Instructions::emulated_amx:
      return true;
  }
#endif
  return instructions == Instructions::portable || instructions == Instructions::emulated_amx;
}

}  // namespace

std::string_view instructions_name(Instructions instructions) {
  switch (instructions) {
    case Instructions::portable:
      return "portable";
    case Instructions::avx2:
      return "avx2";
    case Instructions::avx512:
      return "avx512";
    case Instructions::avx512_bf16:
      return "avx512_bf16";
    case Instructions::amx:
      return "amx";
    case Instructions::emulated_amx:
      break;
  }
  return "emulated_amx";
}

std::vector<Instructions> instructions_for(ElementType type) {
  std::vector<Instructions> found;
  for (const Instructions one : all)
    if (has(one) && (!is_of_bf16(one) || type == ElementType::bf16)) found.push_back(one);
  return found;
}

std::optional<Instructions> chosen_instructions(ElementType type) {
  const std::vector<Instructions> here = instructions_for(type);
  const char* const set = std::getenv(variable);
  if (set == nullptr || *set == '\0') return here.back();
  const std::string wanted = set;
  if (wanted == "library") return std::nullopt;
  std::string names = "library";
  for (const Instructions one : all) {
    const bool is_of_type = !is_of_bf16(one) || type == ElementType::bf16;
    if (has(one) && wanted == instructions_name(one)) return is_of_type ? one : here.back();
    if (has(one) && is_of_type) names += ", " + std::string(instructions_name(one));
  }
  fail(Exit::usage, "{}={}: this processor does not support it. It supports {}", variable, wanted, names);
}

}  // namespace voxswap::net::convolution
