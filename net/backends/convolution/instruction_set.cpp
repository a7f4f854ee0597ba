#include "net/backends/convolution/instruction_set.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace voxswap::net::convolution {

namespace {

constexpr const char* variable = "VOXSWAP_CONVOLUTIONS";
constexpr Instructions all[] = {Instructions::portable, Instructions::avx2, Instructions::avx512,
                                Instructions::avx512_bf16};

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
  }
#endif
  return instructions == Instructions::portable;
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
      break;
  }
  return "avx512_bf16";
}

std::vector<Instructions> instructions_for(ElementType type) {
  std::vector<Instructions> found;
  for (const Instructions one : all)
    if (has(one) && (one != Instructions::avx512_bf16 || type == ElementType::bf16)) found.push_back(one);
  return found;
}

bool are_instructions_forced() {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr && *wanted != '\0';
}

std::optional<Instructions> chosen_instructions(ElementType type) {
  const std::vector<Instructions> here = instructions_for(type);
  if (!are_instructions_forced()) return here.back();
  const std::string wanted = std::getenv(variable);
  if (wanted == "library") return std::nullopt;
  if (wanted == "avx512_bf16" && has(Instructions::avx512_bf16)) return here.back();
  std::string names = "library";
  for (const Instructions one : here) {
    if (wanted == instructions_name(one)) return one;
    names += ", " + std::string(instructions_name(one));
  }
  fail(Exit::usage, "{}={}: not a way to convolve on this processor, which has {}", variable, wanted, names);
}

}  // namespace voxswap::net::convolution
