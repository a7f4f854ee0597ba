// The table of backends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/backends/backend.h"

namespace voxswap::net {

// Throws Exit::usage with the nearest name, Exit::does_not_fit where the machine has no such device.
std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options = {});
std::vector<std::string> backend_names();               // of those that have a device here
int device_count(const std::string& backend);           // REQUIRES: in the table
std::string why_no_device(const std::string& backend);  // for people; empty where there is one
std::vector<std::string> backends_without_device();     // the rest of the table

// Changes a finished step so that it suits the backend: sums are made where it can make them at no cost.
void suit(const Backend& backend, Graph& graph);

}  // namespace voxswap::net
