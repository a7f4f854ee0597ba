// The library for other languages, such as Python (python/voxswap): functions of C that take and return JSON.
//
// Every function returns a text, {"result": …} or {"error": message, "exit_code": number}, which the caller
// frees with voxswap_free(). While one runs, Ctrl-C ends it at the next safe point, with exit code 130. One
// call at a time.
//
#pragma once

#include <cstdint>

namespace voxswap {

extern "C" {

void voxswap_free(char* text);

// functions and arguments:
// version, {}
// be_quiet {"quiet": true}: only warnings and errors from now on
// plan     {"experiment": file, "overrides": ["key=value"], "estimate": false, "device": ""}
// run      {"experiment": file, "overrides": [], "resume": false}; the run's folder
// check    {"folder": folder, "layout": "auto"}
// evaluate {"truth": folder, "prediction": folder, "regions": [["core", [1, 4]]], "metrics": ["dice"],
// "empty": "brats", "partial": false}; a row per case and region, null: not defined
// `on_epoch` (run only; may be null) gets a text after every epoch; what is not 0 ends the run.
char* voxswap_call(const char* function, const char* arguments, int (*on_epoch)(const char* epoch));

// Networks of finished runs. {"runs": [folder], "window": [x, y, z] or null, "overlap": 0.5, "mirror": false,
// "probabilities": false, "postprocessing": ""}; names of channels, labels and outputs. `network`: set to
// what the functions below take, or null.
char* voxswap_open_network(const char* arguments, void** network);
void voxswap_close_network(void* network);
// `voxels`: channels, depth, height, width, as `sides` says. `affine`: 3 x 4, as in
// include/voxswap/predict.h. `labels`: room for depth x height x width; `probabilities`: outputs times as
// much, or null.
char* voxswap_predict(void* network, const float* voxels, const std::int64_t sides[4],
                      const double affine[12], std::int16_t* labels, float* probabilities);

}  // extern "C"

}  // namespace voxswap
