// AMX instructions on a processor without them: each one traps and is executed in plain C++ (the emulated
// tiles). So kernels run as compiled for AMX, which verifies their instructions, operands and addresses. For
// Linux on x86-64 processors with the other instruction sets that those kernels need.
#pragma once

#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/tiles_emulated.h"
#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <ucontext.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace voxswap::net {

#if defined(__x86_64__) && defined(__linux__)

// Active in all threads while it exists.
class TrappedTiles {
 public:
  static bool work_here() {
    return convolution::instructions_for(ElementType::bf16).back() == convolution::Instructions::avx512_bf16;
  }
  TrappedTiles() {
    struct sigaction action = {};
    action.sa_sigaction = trapped;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGILL, &action, &before_);
  }
  ~TrappedTiles() { ::sigaction(SIGILL, &before_, nullptr); }
  TrappedTiles(const TrappedTiles&) = delete;
  TrappedTiles& operator=(const TrappedTiles&) = delete;

 private:
  using Registers = greg_t*;

  // An instruction with a three-byte VEX prefix (Intel's manual, volume 2, 2.3).
  struct Instruction {
    int prefix = 0, opcode = 0, mode = 0, reg = 0, rm = 0, third = 0;
    std::uint64_t address = 0;  // of its memory operand, without the index
    std::int64_t index = 0;     // already scaled
    std::int64_t length = 0;
    bool is_vex = false;
  };
  static std::int64_t value_of(Registers registers, int number) {
    constexpr int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[places[number]];
  }
  template <class T>
  static std::int64_t displacement(const std::uint8_t*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  static Instruction read(Registers registers) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    Instruction found;
    found.is_vex = begin[0] == 0xc4 && (begin[1] & 0x1f) == 2;  // opcode map 0F 38
    if (!found.is_vex) return found;
    const int high_reg = begin[1] & 0x80 ? 0 : 8, high_index = begin[1] & 0x40 ? 0 : 8,
              high_base = begin[1] & 0x20 ? 0 : 8;
    found.prefix = begin[2] & 3;
    found.third = ~(begin[2] >> 3) & 15;
    found.opcode = begin[3];
    found.mode = begin[4] >> 6;
    found.reg = (begin[4] >> 3 & 7) + high_reg;
    const std::uint8_t* at = begin + 5;
    const int low = begin[4] & 7;
    found.rm = low + high_base;
    if (found.mode != 3) {
      int base = found.rm;
      if (low == 4) {
        const int index = (*at >> 3 & 7) + high_index;
        if (index != 4) found.index = value_of(registers, index) * (1 << (*at >> 6));
        base = (*at & 7) + high_base;
        ++at;
      }
      const bool has_base = found.mode != 0 || base % 8 != 5, is_after = !has_base && low == 5;
      std::int64_t address = has_base ? value_of(registers, base) : 0;
      if (found.mode == 1) address += displacement<std::int8_t>(at);
      if (found.mode == 2 || !has_base) address += displacement<std::int32_t>(at);
      if (is_after) address += reinterpret_cast<std::int64_t>(at);
      found.address = static_cast<std::uint64_t>(address);
    }
    found.length = at - begin;
    return found;
  }

  // Per thread.
  struct State {
    bool is_configured = false;
    convolution::EmulatedTiles tiles;
  };
  static State& state() {
    static thread_local State of_thread;
    return of_thread;
  }

  // Calls function with `number` (0 to 7) as a constant.
  template <class Function>
  static void with(int number, const Function& function) {
    const auto each = [&]<int... N>(std::integer_sequence<int, N...>) {
      ((number == N ? function(std::integral_constant<int, N>()) : void()), ...);
    };
    if (number > 7) std::abort();
    each(std::make_integer_sequence<int, 8>());
  }
  static void configure(State& state, const void* from) {
    convolution::TileShapes shapes;
    std::memcpy(&shapes, from, sizeof shapes);
    bool is_allowed = shapes.palette == 1 && shapes.start_row == 0;
    for (const std::uint8_t byte : shapes.reserved) is_allowed &= byte == 0;
    for (int tile = 0; tile < 16; ++tile)
      is_allowed &= tile < 8 ? shapes.rows[tile] <= 16 && shapes.row_bytes[tile] <= 64
                             : shapes.rows[tile] == 0 && shapes.row_bytes[tile] == 0;
    if (!is_allowed) std::abort();  // a general protection fault
    state.tiles.configure(shapes);
    state.is_configured = true;
  }
  // Sums are in tiles 0 to 3, rows in 4 and 5, columns in 6 and 7 (tiled_products.h).
  static void multiply_add(State& state, int sum, int rows, int columns) {
    if (sum > 3 || rows / 2 != 2 || columns / 2 != 3) std::abort();
    with(sum, [&](auto c) {
      if constexpr (c < 4) {
        if (rows == 4 && columns == 6) state.tiles.multiply_add<c, 4, 6>();
        if (rows == 4 && columns == 7) state.tiles.multiply_add<c, 4, 7>();
        if (rows == 5 && columns == 6) state.tiles.multiply_add<c, 5, 6>();
        if (rows == 5 && columns == 7) state.tiles.multiply_add<c, 5, 7>();
      }
    });
  }
  // Whether it is an AMX instruction.
  static bool execute(const Instruction& it) {
    constexpr int no_prefix = 0, f3 = 2, f2 = 3;
    State& now = state();
    auto* const memory = reinterpret_cast<void*>(it.address);
    const bool is_register = it.mode == 3;
    if (it.opcode == 0x49 && it.prefix == no_prefix && !is_register) {
      configure(now, static_cast<const char*>(memory) + it.index);
    } else if (it.opcode == 0x49 && it.prefix == no_prefix && it.reg == 0 && it.rm == 0) {
      now.tiles.release();
      now.is_configured = false;
    } else if (!now.is_configured) {
      return false;
    } else if (it.opcode == 0x49 && it.prefix == f2 && is_register) {
      with(it.reg, [&](auto tile) { now.tiles.zero<tile>(); });
    } else if (it.opcode == 0x4b && it.prefix == f2 && !is_register) {
      with(it.reg, [&](auto tile) { now.tiles.load<tile>(memory, it.index); });
    } else if (it.opcode == 0x4b && it.prefix == f3 && !is_register) {
      with(it.reg, [&](auto tile) { now.tiles.store<tile>(memory, it.index); });
    } else if (it.opcode == 0x5c && it.prefix == f3 && is_register) {
      multiply_add(now, it.reg, it.rm, it.third);
    } else {
      return false;
    }
    return true;
  }
  static void trapped(int, siginfo_t*, void* context) {
    const Registers registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const Instruction instruction = read(registers);
    if (!instruction.is_vex || !execute(instruction)) std::abort();
    registers[REG_RIP] += instruction.length;
  }

  struct sigaction before_ = {};
};

#else

class TrappedTiles {
 public:
  static bool work_here() { return false; }
};

#endif

}  // namespace voxswap::net
