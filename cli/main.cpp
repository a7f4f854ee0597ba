// voxswap: an experiment runner for 3D segmentation on whole MRI volumes. All errors end here.
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/standard_streams.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "cli/ranks.h"
#include "cli/restart.h"
#include "net/collective/launched.h"

namespace voxswap::cli {
namespace {

void tell(const std::string& error) {
  let_first_rank_speak();
  log::error("{}{}", of_rank(), error);
}

// The exit code of the program; errors have been told.
Exit run_alone(const Arguments& arguments) {
  try {
    join_ranks(arguments);
    const Exit exit = dispatch(arguments);
    net::leave_ranks();  // whatever it came to, all have come to the end of it
    check_standard_output();
    return exit;
  } catch (const Error& error) {
    if (error.exit() == Exit::interrupted) {
      if (net::have_left() && is_silent_rank()) return error.exit();  // the first says so
      let_first_rank_speak();
      log::warn("{}interrupted; the same command with --resume continues a run", of_rank());
    } else {
      tell(error.what());
    }
    return error.exit();
  } catch (const std::bad_alloc&) {
    tell("out of memory. Lower preprocess.resolution, training.batch_size or network.base_filters");
    return Exit::does_not_fit;
  } catch (const fs::filesystem_error& error) {
    tell(format("{}: {}", error.path1().string(), error.code().message()));
    return exit_of(error.code().value());
  } catch (const std::system_error& error) {  // of threads
    tell(error.what());
    return exit_of(error.code().value());
  } catch (const std::exception& error) {
    tell(error.what());
    return Exit::failed;
  }
}

Exit run(const Arguments& arguments) {
  const Exit exit = run_alone(arguments);
  net::end_all_ranks(static_cast<int>(exit));  // where they have not parted
  return exit;
}

}  // namespace
}  // namespace voxswap::cli

int main(int count, char** values) {
  try {
    voxswap::open_standard_streams();
    voxswap::cli::let_waiting_threads_sleep(values);
    voxswap::cli::take_cores(values);
    voxswap::watch_for_interrupt();
    return static_cast<int>(
        voxswap::cli::run(voxswap::cli::Arguments(values + (count > 0 ? 1 : 0), values + count)));
  } catch (...) {  // not even the memory for a message
    std::fputs("error: out of memory\n", stderr);
    return static_cast<int>(voxswap::Exit::does_not_fit);
  }
}
