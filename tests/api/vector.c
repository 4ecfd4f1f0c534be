/* The ONNX vectors, for this suite. */
#include "tests/onnx/vector.inc"
