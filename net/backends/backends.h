// The table of backends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/backends/backend.h"

namespace voxswap::net {

// Throws Exit::usage for an unknown name (suggesting the nearest), Exit::does_not_fit if the machine has no
// such device.
std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options = {});
std::vector<std::string> backend_names();               // backends with a device on this machine
int device_count(const std::string& backend);           // REQUIRES: in the table
std::string why_no_device(const std::string& backend);  // for people; empty if there is one
std::vector<std::string> backends_without_device();     // the other backends of the table

// Adapts a finished step to the backend: fuses sums into kernels where the backend can do so at no cost.
void suit(const Backend& backend, Graph& graph);

}  // namespace voxswap::net
