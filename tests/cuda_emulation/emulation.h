// Runs CUDA kernels on the CPU, so that the sources that nvcc compiles are also tested without a GPU.
//
// The same .cu files are compiled as C++: include/ has headers with CUDA's names that define the parts of the
// language and runtime that our kernels use. A block's threads are fibres on one host thread. A fibre runs
// until it ends or reaches a barrier, then the next one runs. Accesses of two threads to the same memory
// between two barriers therefore happen in an order that the test chooses, and a result that depends on the
// order reveals a missing barrier. Accesses beyond an array are found by its guards. Sanitizers do not work
// with the emulation, because they do not support its change of stacks.
//
// It does not model speed or warps: lanes that exchange data without a barrier are not supported.
#pragma once

#include <cstdint>
#include <functional>

namespace voxswap::emulation {

struct Extent {
  unsigned x = 1, y = 1, z = 1;
  constexpr Extent(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// The order in which the threads of a block, and the blocks of a grid, take their turns.
enum class Order { forward, backward, shuffled };
void set_order(Order order);  // for all later launches, on any thread

// Restricts the calling thread's launches to some blocks, to make tests of huge grids affordable.
void set_blocks_that_run(std::function<bool(const Extent& block, const Extent& grid)> chosen);  // null: all

// Whether a device accepts the grid, by CUDA's limits.
bool a_device_could(const Extent& grid, const Extent& block);

// Runs thread() for every thread of every block; sets at_block and at_thread before each turn. Rethrows
// exceptions of threads, and throws std::logic_error if threads wait for others that have ended.
// REQUIRES: a_device_could().
void launch(const Extent& grid, const Extent& block, Extent& at_block, Extent& at_thread,
            const std::function<void()>& thread);

void wait_for_block();  // __syncthreads()

}  // namespace voxswap::emulation
