// voxswap: an experiment runner for 3D segmentation on whole MRI volumes. The one place where errors end.
#include <exception>
#include <new>
#include <system_error>

#include "base/descriptor.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/standard_streams.h"
#include "cli/commands.h"

int main(int count, char** values) {
  using namespace voxswap;
  open_standard_streams();
  watch_for_interrupt();
  Exit exit = Exit::failed;
  try {
    exit = dispatch(Arguments(values + (count > 0 ? 1 : 0), values + count));
    check_standard_output();
  } catch (const Error& error) {
    exit = error.exit();
    if (exit == Exit::interrupted)
      log::write(log::Level::warning, "interrupted; the same command with --resume continues a run");
    else
      log::error("{}", error.what());
  } catch (const std::bad_alloc&) {
    exit = Exit::does_not_fit;
    log::error("out of memory; lower preprocess.resolution, training.batch_size or network.base_filters");
  } catch (const std::system_error& error) {  // of the library for files and threads
    exit = exit_of(error.code().value());
    log::error("{}", error.what());
  } catch (const std::exception& error) {
    log::error("{}", error.what());
  }
  return static_cast<int>(exit);
}
