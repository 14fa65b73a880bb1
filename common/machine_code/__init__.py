"""Machine code of kernels in shared libraries, which are called without the compiler."""
