// voxswap-decode: reads 2D images and compressed DICOM slices for voxswap in a separate process
// (decoder_process.h).
#include "data/formats/decoder_server.h"

int main() {
  voxswap::data::serve_decoders();
}
