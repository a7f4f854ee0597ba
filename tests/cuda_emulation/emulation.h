// Runs CUDA kernels on the CPU, so that the sources which nvcc compiles for a GPU are tested where there is
// none.
//
// The very same .cu files are compiled as C++: include/ has headers under CUDA's names with what our kernels
// use of the language and the runtime. A block's threads are fibres on one thread of the host. A fibre runs
// until it ends or waits for its block, then the next one does; so whatever two threads do to the same memory
// between two barriers happens in an order that the test chooses, and where the result depends on it a
// barrier is missing. Reads and writes are the host's own; those beside an array show in the guards around
// it. Sanitizers do not go with it: they take a change of stacks for a jump within one.
//
// It says nothing of speed, and it has no warps: lanes that need each other without a barrier would not meet.
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
void set_order(Order order);  // of all launches that follow, on any thread

// Runs only some blocks of what the calling thread launches: what a test of a huge grid can afford.
void set_blocks_that_run(std::function<bool(const Extent& block, const Extent& grid)> chosen);  // null: all

// Whether devices run such a grid: CUDA's limits.
bool a_device_could(const Extent& grid, const Extent& block);

// Runs thread() for every thread of every block; at_block and at_thread become its place before each of its
// turns. Throws what a thread throws, and std::logic_error when threads wait for others that have ended.
// REQUIRES: a_device_could().
void launch(const Extent& grid, const Extent& block, Extent& at_block, Extent& at_thread,
            const std::function<void()>& thread);

void wait_for_block();  // __syncthreads()

}  // namespace voxswap::emulation
