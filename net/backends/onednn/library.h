// oneDNN behind plain types: its version and what it supports on this CPU.
#pragma once

#include <string>

namespace voxswap::net::onednn {

std::string library_version();
std::string instruction_set_name();
bool has_native_bf16();  // AVX512-BF16 or AMX: faster than f32
bool has_amx();

}  // namespace voxswap::net::onednn
