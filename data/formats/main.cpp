// voxswap-decode: reads pictures and compressed DICOM slices for voxswap, in a process of its own
// (decoder_process.h).
#include "data/formats/decoder_server.h"

int main() {
  voxswap::data::serve_decoders();
}
