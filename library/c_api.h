// The C interface of the library for other languages, such as Python (python/voxswap): functions that take
// and return JSON.
//
// Every function returns {"result": …} or {"error": message, "exit_code": number} as text, which the caller
// frees with voxswap_free(). During a call, Ctrl-C stops it at the next safe point with exit code 130. Only
// one call at a time.
#pragma once

#include <cstdint>

namespace voxswap {

extern "C" {

void voxswap_free(char* text);

// Functions and their arguments:
// version  {}
// be_quiet {"quiet": true}; log only warnings and errors from now on
// plan     {"experiment": file, "overrides": ["key=value"], "estimate": false, "device": ""}
// run      {"experiment": file, "overrides": [], "resume": false}; returns the run's folder
// check    {"folder": folder, "layout": "auto"}
// evaluate {"truth": folder, "prediction": folder, "regions": [["core", [1, 4]]], "metrics": ["dice"],
//           "empty": "brats", "partial": false}; returns a row per case and region, null: not defined
// `on_epoch` (only for run, may be null) receives a text after every epoch; a result other than 0 ends the
// run.
char* voxswap_call(const char* function, const char* arguments, int (*on_epoch)(const char* epoch));

// Opens networks of finished runs with {"runs": [folder], "window": [x, y, z] or null, "overlap": 0.5,
// "mirror": false, "probabilities": false, "postprocessing": ""}. Returns names of channels, labels and
// outputs. `network`: set to a handle for the functions below, or null.
char* voxswap_open_network(const char* arguments, void** network);
void voxswap_close_network(void* network);
// `voxels`: channels, depth, height, width, with sizes in `sides`. `affine`: 3 x 4, as in
// include/voxswap/predict.h. `labels`: buffer of depth x height x width; `probabilities`: null, or a buffer
// of that size per output.
char* voxswap_predict(void* network, const float* voxels, const std::int64_t sides[4],
                      const double affine[12], std::int16_t* labels, float* probabilities);

}  // extern "C"

}  // namespace voxswap
