// voxswap: an experiment runner for 3D segmentation on whole MRI volumes. The one place where errors end.
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/descriptor.h"
#include "base/filesystem.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/standard_streams.h"
#include "cli/commands.h"

namespace voxswap::cli {
namespace {

// The exit code of the program; errors have been told.
Exit run(const Arguments& arguments) {
  try {
    const Exit exit = dispatch(arguments);
    check_standard_output();
    return exit;
  } catch (const Error& error) {
    if (error.exit() == Exit::interrupted)
      log::write(log::Level::warning, "interrupted; the same command with --resume continues a run");
    else
      log::error("{}", error.what());
    return error.exit();
  } catch (const std::bad_alloc&) {
    log::error("out of memory; lower preprocess.resolution, training.batch_size or network.base_filters");
    return Exit::does_not_fit;
  } catch (const fs::filesystem_error& error) {
    log::error("{}: {}", error.path1().string(), error.code().message());
    return exit_of(error.code().value());
  } catch (const std::system_error& error) {  // of threads
    log::error("{}", error.what());
    return exit_of(error.code().value());
  } catch (const std::exception& error) {
    log::error("{}", error.what());
    return Exit::failed;
  }
}

}  // namespace
}  // namespace voxswap::cli

int main(int count, char** values) {
  try {
    voxswap::open_standard_streams();
    voxswap::watch_for_interrupt();
    return static_cast<int>(
        voxswap::cli::run(voxswap::cli::Arguments(values + (count > 0 ? 1 : 0), values + count)));
  } catch (...) {  // not even the memory for a message
    std::fputs("error: out of memory\n", stderr);
    return static_cast<int>(voxswap::Exit::does_not_fit);
  }
}
