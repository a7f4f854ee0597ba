// The page that a report may be part of.
#pragma once

#include <string>

namespace voxswap::pipeline {

// What a sweep adds to the report of its runs.
struct ReportFrame {
  std::string title;    // empty: the names of the runs
  std::string section;  // HTML, behind what is asked first
};

}  // namespace voxswap::pipeline
